/* A read_committed consumer with as little to it as can be, so that the broker is what is measured.
 *
 *   light_consumer HOST PORT TOPIC PARTITIONS TIMES
 *
 * Reads a topic so many times from its beginning to its last stable offset, with a connection and a
 * thread for each partition, a megabyte at a time as clients do by default. It walks the batches by
 * their headers, leaves out control batches and those of aborted transactions, as answers list
 * them, and counts the records of all others. It does not decode a record: that costs a client many
 * times what sending it costs a broker. Prints one line of JSON; says on standard error what went
 * wrong and ends with 1 otherwise.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES_MAX = 50 << 20, PARTITION_BYTES_MAX = 1 << 20, BUFFER = 8 << 20, ABORTING_MAX = 1024 };
/* Of a batch: where things are, and flags of its attributes. */
enum { LENGTH_AT = 8, ATTRIBUTES_AT = 21, LAST_DELTA_AT = 23, PRODUCER_AT = 43, COUNT_AT = 57 };
enum { HEADER_SIZE = 61, LENGTH_PREFIX = 12, TRANSACTIONAL = 16, CONTROL = 32 };

typedef struct {
    const char *host, *topic;
    int port, partition, times;
    int64_t records, aborted, bytes, fetches;
    int64_t aborting[ABORTING_MAX]; /* Producers whose aborted transaction has begun. */
    int aborting_count;
} Reader;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static char *put(char *at, uint64_t value, int size) {
    for (int byte = size - 1; byte >= 0; byte--) *at++ = (char)(value >> (8 * byte));
    return at;
}

static int64_t get(const uint8_t *at, int size) {
    uint64_t value = (at[0] & 0x80) ? UINT64_MAX : 0;
    for (int byte = 0; byte < size; byte++) value = value << 8 | at[byte];
    return (int64_t)value;
}

static uint32_t get_varint(const uint8_t **at) {
    uint32_t value = 0;
    for (int shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
}

/* Fetch version 12, the last one that names topics. */
static size_t encode_fetch(char *request, const Reader *reader, int64_t offset) {
    size_t name = strlen(reader->topic);
    char *at = request + 4;
    at = put(at, 1, 2), at = put(at, 12, 2), at = put(at, 1, 4); /* Key, version, correlation id. */
    at = put(at, -1, 2), at = put(at, 0, 1);                     /* No client id. */
    at = put(at, -1, 4), at = put(at, 500, 4), at = put(at, 1, 4), at = put(at, BYTES_MAX, 4);
    at = put(at, 1, 1), at = put(at, 0, 4), at = put(at, -1, 4); /* Committed; no session. */
    at = put(at, 2, 1), at = put(at, name + 1, 1);
    memcpy(at, reader->topic, name), at += name;
    at = put(at, 2, 1), at = put(at, reader->partition, 4), at = put(at, -1, 4);
    at = put(at, offset, 8), at = put(at, -1, 4), at = put(at, -1, 8);
    at = put(at, PARTITION_BYTES_MAX, 4), at = put(at, 0, 1);
    at = put(at, 0, 1), at = put(at, 1, 1), at = put(at, 1, 1), at = put(at, 0, 1);
    put(request, at - request - 4, 4);
    return at - request;
}

static void receive(int connection, uint8_t *into, size_t size) {
    for (size_t have = 0; have < size;) {
        ssize_t more = recv(connection, into + have, size - have, MSG_WAITALL);
        if (more <= 0) fail("the broker closed the connection");
        have += more;
    }
}

static int find_aborting(const Reader *reader, int64_t producer) {
    for (int at = 0; at < reader->aborting_count; at++)
        if (reader->aborting[at] == producer) return at;
    return -1;
}

static void begin_aborting(Reader *reader, int64_t producer) {
    if (find_aborting(reader, producer) >= 0) return;
    if (reader->aborting_count == ABORTING_MAX) fail("too many aborted transactions at once");
    reader->aborting[reader->aborting_count++] = producer;
}

/* Counts the whole batches and returns the offset after them. Aborted transactions are in the order
 * of their last offsets, so that each batch looks through those that have not begun. */
static int64_t take(Reader *reader, const uint8_t *records, size_t size, const uint8_t *aborted,
                    uint32_t aborted_count, int64_t offset) {
    uint8_t *has_begun = calloc(aborted_count + 1, 1);
    uint32_t first = 0;
    for (size_t at = 0; at + HEADER_SIZE <= size;) {
        const uint8_t *batch = records + at;
        size_t length = get(batch + LENGTH_AT, 4) + LENGTH_PREFIX;
        if (at + length > size) break;
        int64_t last = get(batch, 8) + get(batch + LAST_DELTA_AT, 4);
        int64_t producer = get(batch + PRODUCER_AT, 8), count = get(batch + COUNT_AT, 4);
        int flags = batch[ATTRIBUTES_AT + 1], found;
        for (uint32_t each = first; each < aborted_count; each++) {
            const uint8_t *entry = aborted + each * 17;
            if (has_begun[each] || get(entry + 8, 8) > last) continue;
            has_begun[each] = 1;
            begin_aborting(reader, get(entry, 8));
        }
        while (first < aborted_count && has_begun[first]) first++;
        if (flags & CONTROL) {
            if ((found = find_aborting(reader, producer)) >= 0)
                reader->aborting[found] = reader->aborting[--reader->aborting_count];
        } else if (flags & TRANSACTIONAL && find_aborting(reader, producer) >= 0) {
            reader->aborted += count;
        } else {
            reader->records += count;
        }
        offset = last + 1;
        at += length;
    }
    free(has_begun);
    return offset;
}

static void read_once(Reader *reader, int connection, uint8_t *buffer) {
    int64_t offset = 0, stable = 1;
    char request[512];
    while (offset < stable) {
        size_t asked = encode_fetch(request, reader, offset);
        if (send(connection, request, asked, 0) != (ssize_t)asked) fail("send");
        receive(connection, buffer, 4);
        size_t size = get(buffer, 4);
        if (size > BUFFER) fail("an answer is too large");
        receive(connection, buffer, size);
        const uint8_t *at = buffer + 4 + 1 + 4; /* Correlation id, tags, throttle time. */
        if (get(at, 2)) fail("the fetch was refused");
        at += 2 + 4;
        if (get_varint(&at) != 2) fail("there is not one topic in the answer");
        at += get_varint(&at) - 1;
        if (get_varint(&at) != 2) fail("there is not one partition in the answer");
        if (get(at + 4, 2)) fail("the partition was refused");
        stable = get(at + 14, 8), at += 30;
        uint32_t aborted_count = get_varint(&at);
        const uint8_t *aborted = at;
        if (aborted_count) aborted_count--;
        at += aborted_count * 17 + 4;
        uint32_t records = get_varint(&at);
        if (records) offset = take(reader, at, records - 1, aborted, aborted_count, offset);
        reader->bytes += records ? records - 1 : 0;
        reader->fetches++;
    }
}

static void *run(void *argument) {
    Reader *reader = argument;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(reader->port)};
    if (inet_pton(AF_INET, reader->host, &address.sin_addr) != 1) fail("the host is no address");
    int connection = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (connect(connection, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    uint8_t *buffer = malloc(BUFFER);
    for (int time = 0; time < reader->times; time++) read_once(reader, connection, buffer);
    close(connection);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 6) fail("usage: light_consumer HOST PORT TOPIC PARTITIONS TIMES");
    int partitions = atoi(arguments[4]);
    Reader *readers = calloc(partitions, sizeof *readers);
    pthread_t *threads = calloc(partitions, sizeof *threads);
    int64_t start = now_ns(), records = 0, aborted = 0, bytes = 0, fetches = 0;
    for (int index = 0; index < partitions; index++) {
        readers[index] = (Reader){.host = arguments[1], .port = atoi(arguments[2]),
                                  .topic = arguments[3], .partition = index,
                                  .times = atoi(arguments[5])};
        if (pthread_create(&threads[index], NULL, run, &readers[index])) fail("no thread");
    }
    for (int index = 0; index < partitions; index++) {
        pthread_join(threads[index], NULL);
        records += readers[index].records, aborted += readers[index].aborted;
        bytes += readers[index].bytes, fetches += readers[index].fetches;
    }
    printf("{\"messages\": %ld, \"aborted\": %ld, \"bytes\": %ld, \"fetches\": %ld, "
           "\"seconds\": %.6f}\n", (long)records, (long)aborted, (long)bytes, (long)fetches,
           (now_ns() - start) / 1e9);
    return 0;
}

/* The client of the side-by-side benchmark: librdkafka with as little around it as can be, so that
 * the client is not what is measured.
 *
 *   perf produce BROKER TOPIC COUNT SIZE             [NAME=VALUE ...]
 *   perf consume BROKER TOPIC PARTITIONS COUNT       [NAME=VALUE ...]
 *   perf group   BROKER TOPIC COUNT group.id=GROUP   [NAME=VALUE ...]
 *   perf latency BROKER TOPIC PARTITIONS RATE COUNT  [NAME=VALUE ...]
 *   perf transact BROKER TOPIC PARTITIONS TRANSACTIONS RECORDS SIZE ABORT_EVERY RATE
 *                                                    transactional.id=ID [NAME=VALUE ...]
 *
 * NAME=VALUE are librdkafka's own settings. Prints one line of JSON; says on standard error what
 * went wrong and ends with 1 otherwise.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* What is used of librdkafka's interface, which is stable: the wheel of confluent-kafka brings the
 * library, but not its header. */
typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct rd_kafka_topic_partition_list_s rd_kafka_topic_partition_list_t;
typedef struct {
    int err;
    rd_kafka_topic_t *rkt;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *private;
} rd_kafka_message_t;
enum { RD_KAFKA_PRODUCER, RD_KAFKA_CONSUMER };
enum { RD_KAFKA_RESP_ERR__QUEUE_FULL = -184 };
enum { RD_KAFKA_OFFSET_BEGINNING = -2, RD_KAFKA_PARTITION_UA = -1, RD_KAFKA_MSG_F_COPY = 2 };
rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *, const char *, const char *, char *, size_t);
typedef void dr_msg_cb(rd_kafka_t *, const rd_kafka_message_t *, void *);
void rd_kafka_conf_set_dr_msg_cb(rd_kafka_conf_t *, dr_msg_cb *);
rd_kafka_t *rd_kafka_new(int, rd_kafka_conf_t *, char *, size_t);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *, const char *, void *);
int rd_kafka_produce(rd_kafka_topic_t *, int32_t, int, void *, size_t, const void *, size_t, void *);
int rd_kafka_last_error(void);
const char *rd_kafka_err2str(int);
int rd_kafka_poll(rd_kafka_t *, int);
int rd_kafka_flush(rd_kafka_t *, int);
rd_kafka_queue_t *rd_kafka_queue_new(rd_kafka_t *);
int rd_kafka_consume_start_queue(rd_kafka_topic_t *, int32_t, int64_t, rd_kafka_queue_t *);
ssize_t rd_kafka_consume_batch_queue(rd_kafka_queue_t *, int, rd_kafka_message_t **, size_t);
rd_kafka_message_t *rd_kafka_consume_queue(rd_kafka_queue_t *, int);
void rd_kafka_message_destroy(rd_kafka_message_t *);
int rd_kafka_poll_set_consumer(rd_kafka_t *);
rd_kafka_queue_t *rd_kafka_queue_get_consumer(rd_kafka_t *);
rd_kafka_topic_partition_list_t *rd_kafka_topic_partition_list_new(int);
void *rd_kafka_topic_partition_list_add(rd_kafka_topic_partition_list_t *, const char *, int32_t);
int rd_kafka_subscribe(rd_kafka_t *, const rd_kafka_topic_partition_list_t *);
int rd_kafka_commit(rd_kafka_t *, const rd_kafka_topic_partition_list_t *, int);
typedef struct rd_kafka_error_s rd_kafka_error_t;
const char *rd_kafka_error_string(const rd_kafka_error_t *);
rd_kafka_error_t *rd_kafka_init_transactions(rd_kafka_t *, int);
rd_kafka_error_t *rd_kafka_begin_transaction(rd_kafka_t *);
rd_kafka_error_t *rd_kafka_commit_transaction(rd_kafka_t *, int);
rd_kafka_error_t *rd_kafka_abort_transaction(rd_kafka_t *, int);

enum { BATCH = 1000, WAIT_MS = 30000, LATENCY_SIZE = 1000 };

static void fail(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static double cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client, (void)opaque;
    if (message->err) fail("a message was not taken: %s", rd_kafka_err2str(message->err));
}

static const char *reports_only_errors = "true";

static rd_kafka_t *connected(int kind, const char *broker, char **settings) {
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (rd_kafka_conf_set(conf, "bootstrap.servers", broker, error, sizeof error)) fail("%s", error);
    if (kind == RD_KAFKA_PRODUCER) {
        /* Only what goes wrong is reported: a callback per message would be the client's cost. */
        rd_kafka_conf_set(conf, "delivery.report.only.error", reports_only_errors, error,
                          sizeof error);
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    }
    for (; *settings; settings++) {
        char *name = strdup(*settings), *value = strchr(name, '=');
        if (!value) fail("%s is not NAME=VALUE", name);
        *value++ = 0;
        if (rd_kafka_conf_set(conf, name, value, error, sizeof error)) fail("%s", error);
        free(name);
    }
    rd_kafka_t *client = rd_kafka_new(kind, conf, error, sizeof error);
    if (!client) fail("%s", error);
    return client;
}

static void send_one(rd_kafka_t *client, rd_kafka_topic_t *topic, int partition, int flags,
                     void *payload, size_t size) {
    while (rd_kafka_produce(topic, partition, flags, payload, size, NULL, 0, NULL)) {
        int error = rd_kafka_last_error();
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail("produce: %s", rd_kafka_err2str(error));
        rd_kafka_poll(client, 5);
    }
}

static void flush(rd_kafka_t *client) {
    if (rd_kafka_flush(client, WAIT_MS)) fail("not everything was taken in %d ms", WAIT_MS);
}

static void produce(const char *broker, const char *name, char **arguments) {
    int64_t count = atoll(arguments[0]);
    size_t size = atoll(arguments[1]);
    rd_kafka_t *client = connected(RD_KAFKA_PRODUCER, broker, arguments + 2);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    char *payload = malloc(size);
    for (size_t at = 0; at < size; at++) payload[at] = (char)(rand() >> 8);
    send_one(client, topic, RD_KAFKA_PARTITION_UA, 0, payload, size);
    flush(client); /* Connected, and the topic's leaders are known. */
    double cpu_before = cpu_s();
    int64_t start = now_ns();
    for (int64_t sent = 0; sent < count; sent++)
        send_one(client, topic, RD_KAFKA_PARTITION_UA, 0, payload, size);
    flush(client);
    double seconds = (now_ns() - start) / 1e9;
    printf("{\"messages\": %ld, \"bytes\": %ld, \"seconds\": %.6f, \"client_cpu_s\": %.3f}\n",
           (long)count, (long)(count * size), seconds, cpu_s() - cpu_before);
}

static rd_kafka_queue_t *started(const char *broker, const char *name, int partitions,
                                 char **settings) {
    rd_kafka_t *client = connected(RD_KAFKA_CONSUMER, broker, settings);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    for (int partition = 0; partition < partitions; partition++)
        if (rd_kafka_consume_start_queue(topic, partition, RD_KAFKA_OFFSET_BEGINNING, queue))
            fail("consume: %s", rd_kafka_err2str(rd_kafka_last_error()));
    return queue;
}

/* Takes so many messages, batch by batch; with a client, each batch is committed. */
static void take(rd_kafka_queue_t *queue, int64_t count, rd_kafka_t *committing) {
    int64_t seen = 0, start = 0, messages = 0, bytes = 0;
    rd_kafka_message_t *batch[BATCH];
    double cpu_before = 0;
    while (seen < count) {
        ssize_t size = rd_kafka_consume_batch_queue(queue, WAIT_MS, batch, BATCH);
        if (size <= 0) fail("%ld of %ld messages came", (long)seen, (long)count);
        if (!start) start = now_ns(), cpu_before = cpu_s(); /* What came first is not counted. */
        else messages += size;
        for (ssize_t at = 0; at < size; at++) {
            if (batch[at]->err) fail("consume: %s", rd_kafka_err2str(batch[at]->err));
            if (messages) bytes += batch[at]->len;
            rd_kafka_message_destroy(batch[at]);
        }
        seen += size;
        int error = committing ? rd_kafka_commit(committing, NULL, 0) : 0;
        if (error) fail("commit: %s", rd_kafka_err2str(error));
    }
    double seconds = (now_ns() - start) / 1e9;
    printf("{\"messages\": %ld, \"bytes\": %ld, \"seconds\": %.6f, \"client_cpu_s\": %.3f}\n",
           (long)messages, (long)bytes, seconds, cpu_s() - cpu_before);
}

static void consume(const char *broker, const char *name, char **arguments) {
    take(started(broker, name, atoi(arguments[0]), arguments + 2), atoll(arguments[1]), NULL);
}

static void group(const char *broker, const char *name, char **arguments) {
    rd_kafka_t *client = connected(RD_KAFKA_CONSUMER, broker, arguments + 1);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, name, RD_KAFKA_PARTITION_UA);
    int error = rd_kafka_subscribe(client, topics);
    if (error) fail("subscribe: %s", rd_kafka_err2str(error));
    take(rd_kafka_queue_get_consumer(client), atoll(arguments[0]), client);
}

typedef struct {
    rd_kafka_queue_t *queue;
    int64_t count, *latencies_ns;
} Receiver;

/* Takes one message after the other, as they come: a client that waits for a full list measures
 * itself. */
static void *receive(void *argument) {
    Receiver *receiver = argument;
    for (int64_t seen = 0; seen < receiver->count; seen++) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(receiver->queue, WAIT_MS);
        if (!message) fail("%ld of %ld messages came", (long)seen, (long)receiver->count);
        if (message->err) fail("consume: %s", rd_kafka_err2str(message->err));
        int64_t due;
        memcpy(&due, message->payload, sizeof due);
        receiver->latencies_ns[seen] = now_ns() - due;
        rd_kafka_message_destroy(message);
    }
    return NULL;
}

static int ascending(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static double percentile_us(const int64_t *sorted, int64_t count, double share) {
    int64_t at = (int64_t)(share * count);
    return sorted[at < count ? at : count - 1] / 1e3;
}

static void wait_due(int64_t due) {
    struct timespec until = {due / 1000000000LL, due % 1000000000LL};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void latency(const char *broker, const char *name, char **arguments) {
    int partitions = atoi(arguments[0]);
    int64_t rate = atoll(arguments[1]), count = atoll(arguments[2]), warm = rate;
    char *no_settings[] = {NULL};
    Receiver receiver = {started(broker, name, partitions, no_settings), count + warm,
                         malloc((count + warm) * sizeof(int64_t))};
    rd_kafka_t *client = connected(RD_KAFKA_PRODUCER, broker, arguments + 3);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, receive, &receiver)) fail("no thread");
    char payload[LATENCY_SIZE] = {0};
    int64_t start = now_ns();
    for (int64_t sent = 0; sent < count + warm; sent++) {
        /* Counted from when it was due: a client that falls behind must not hide the delay. */
        int64_t due = start + sent * 1000000000LL / rate;
        wait_due(due);
        memcpy(payload, &due, sizeof due);
        send_one(client, topic, sent % partitions, RD_KAFKA_MSG_F_COPY, payload, sizeof payload);
        rd_kafka_poll(client, 0);
    }
    double seconds = (now_ns() - start) / 1e9;
    flush(client);
    pthread_join(thread, NULL);
    int64_t *latencies = receiver.latencies_ns + warm; /* The first second only warms up. */
    qsort(latencies, count, sizeof *latencies, ascending);
    printf("{\"messages\": %ld, \"seconds\": %.3f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
           "\"p999_us\": %.1f}\n", (long)count, seconds, percentile_us(latencies, count, 0.5),
           percentile_us(latencies, count, 0.99), percentile_us(latencies, count, 0.999));
}

static void require(const char *what, rd_kafka_error_t *error) {
    if (error) fail("%s: %s", what, rd_kafka_error_string(error));
}

/* Transactions one after the other, each over all partitions; of every ABORT_EVERY the last one is
 * aborted, unless that is 0. With a RATE, so many a second; otherwise as fast as they are taken.
 * The first hundredth of them only warms up. */
static void transact(const char *broker, const char *name, char **arguments) {
    int partitions = atoi(arguments[0]);
    int64_t count = atoll(arguments[1]), records = atoll(arguments[2]), size = atoll(arguments[3]),
            abort_every = atoll(arguments[4]), rate = atoll(arguments[5]), warm = 1 + count / 100;
    /* Without a report for each message, a flush only looks every 10 ms whether it is done. */
    reports_only_errors = "false";
    rd_kafka_t *client = connected(RD_KAFKA_PRODUCER, broker, arguments + 6);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    int64_t *commits_ns = malloc(count * sizeof(int64_t));
    int64_t *wholes_ns = malloc(count * sizeof(int64_t));
    char *payload = malloc(size);
    for (int64_t at = 0; at < size; at++) payload[at] = (char)(rand() >> 8);
    require("init", rd_kafka_init_transactions(client, WAIT_MS));
    int64_t start = 0, paced_from = now_ns(), committed = 0;
    for (int64_t number = -warm; number < count; number++) {
        if (rate) wait_due(paced_from + (number + warm) * 1000000000LL / rate);
        if (number == 0) start = now_ns();
        int64_t begun = now_ns();
        require("begin", rd_kafka_begin_transaction(client));
        for (int64_t sent = 0; sent < records; sent++)
            send_one(client, topic, sent % partitions, 0, payload, size);
        flush(client);
        if (number >= 0 && abort_every && (number + 1) % abort_every == 0) {
            require("abort", rd_kafka_abort_transaction(client, WAIT_MS));
            continue;
        }
        int64_t flushed = now_ns();
        require("commit", rd_kafka_commit_transaction(client, WAIT_MS));
        if (number < 0) continue;
        commits_ns[committed] = now_ns() - flushed;
        wholes_ns[committed++] = now_ns() - begun;
    }
    double seconds = (now_ns() - start) / 1e9;
    qsort(commits_ns, committed, sizeof *commits_ns, ascending);
    qsort(wholes_ns, committed, sizeof *wholes_ns, ascending);
    printf("{\"messages\": %ld, \"bytes\": %ld, \"seconds\": %.6f, \"committed\": %ld, "
           "\"commit_p50_us\": %.1f, "
           "\"commit_p99_us\": %.1f, \"whole_p50_us\": %.1f, \"whole_p99_us\": %.1f}\n",
           (long)(count * records), (long)(count * records * size), seconds,
           (long)((committed + warm) * records), percentile_us(commits_ns, committed, 0.5),
           percentile_us(commits_ns, committed, 0.99), percentile_us(wholes_ns, committed, 0.5),
           percentile_us(wholes_ns, committed, 0.99));
}

int main(int count, char **arguments) {
    const char *command = count > 1 ? arguments[1] : "";
    int wanted = !strcmp(command, "transact") ? 10 : !strcmp(command, "latency") ? 7 : 6;
    if (count < wanted) fail("usage: perf COMMAND BROKER ... (see perf.c)");
    if (!strcmp(command, "produce")) produce(arguments[2], arguments[3], arguments + 4);
    else if (!strcmp(command, "consume")) consume(arguments[2], arguments[3], arguments + 4);
    else if (!strcmp(command, "group")) group(arguments[2], arguments[3], arguments + 4);
    else if (!strcmp(command, "latency")) latency(arguments[2], arguments[3], arguments + 4);
    else if (!strcmp(command, "transact")) transact(arguments[2], arguments[3], arguments + 4);
    else fail("no such command: %s", arguments[1]);
    fflush(stdout);
    _Exit(0); /* The clients are not destroyed: nothing is left that has to be said to the server. */
}

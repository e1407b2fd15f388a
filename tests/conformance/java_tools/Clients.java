import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's own producer and consumer, for one request each. Bytes are base64, null is null. */
class Clients {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long EARLIEST = -2;
    private static final long LATEST = -1;

    /** What became of each message: where it is, or the error's code and text. */
    static JsonNode produce(JsonNode request) throws Exception {
        ArrayNode results = Driver.JSON.arrayNode();
        try (KafkaProducer<byte[], byte[]> producer = producer(request)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode message : request.get("messages")) {
                sent.add(producer.send(record(request.get("topic").asText(), message)));
            }
            for (Future<RecordMetadata> each : sent) {
                results.add(result(each));
            }
        }
        return results;
    }

    private static KafkaProducer<byte[], byte[]> producer(JsonNode request) {
        return new KafkaProducer<>(configs(request), new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, JsonNode message) throws Exception {
        Integer partition = message.hasNonNull("partition") ? message.get("partition").asInt() : null;
        Long timestamp = message.hasNonNull("timestamp_ms") ? message.get("timestamp_ms").asLong() : null;
        ProducerRecord<byte[], byte[]> record =
            new ProducerRecord<>(topic, partition, timestamp, bytes(message.get("key")), bytes(message.get("value")));
        for (JsonNode header : message.get("headers")) {
            record.headers().add(header.get(0).asText(), bytes(header.get(1)));
        }
        return record;
    }

    private static ObjectNode result(Future<RecordMetadata> sent) throws InterruptedException {
        ObjectNode result = Driver.JSON.objectNode();
        try {
            RecordMetadata metadata = sent.get();
            result.put("partition", metadata.partition());
            result.put("offset", metadata.offset());
        } catch (ExecutionException thrown) {
            result.put("error_code", Errors.forException(thrown.getCause()).code());
            result.put("error", thrown.getCause().toString());
        }
        return result;
    }

    static JsonNode consume(JsonNode request) {
        ArrayNode records = Driver.JSON.arrayNode();
        int count = request.get("count").asInt();
        long deadlineMs = System.currentTimeMillis() + request.get("timeout_ms").asLong();
        try (KafkaConsumer<byte[], byte[]> consumer = assigned(request)) {
            while (records.size() < count && System.currentTimeMillis() < deadlineMs) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    records.add(described(record));
                }
            }
        }
        return records;
    }

    private static KafkaConsumer<byte[], byte[]> assigned(JsonNode request) {
        KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(configs(request), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Map<TopicPartition, Long> starts = new HashMap<>();
        for (JsonNode each : request.get("partitions")) {
            starts.put(new TopicPartition(each.get(0).asText(), each.get(1).asInt()), each.get(2).asLong());
        }
        consumer.assign(starts.keySet());
        starts.forEach((partition, offset) -> {
            if (offset == EARLIEST) {
                consumer.seekToBeginning(Set.of(partition));
            } else if (offset == LATEST) {
                consumer.seekToEnd(Set.of(partition));
            } else {
                consumer.seek(partition, offset);
            }
        });
        return consumer;
    }

    private static ObjectNode described(ConsumerRecord<byte[], byte[]> record) {
        ObjectNode described = Driver.JSON.objectNode();
        described.put("topic", record.topic());
        described.put("partition", record.partition());
        described.put("offset", record.offset());
        described.put("timestamp_ms", record.timestamp());
        described.put("timestamp_type", record.timestampType().toString());
        described.put("key", record.key());
        described.put("value", record.value());
        ArrayNode headers = described.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(header.value());
        }
        return described;
    }

    /** The offset that a consumer finds for a timestamp, or for the start or the end of a partition. */
    static JsonNode offsets(JsonNode request) {
        TopicPartition partition = new TopicPartition(request.get("topic").asText(), request.get("partition").asInt());
        long timestamp = request.get("timestamp_ms").asLong();
        try (KafkaConsumer<byte[], byte[]> consumer =
                 new KafkaConsumer<>(configs(request), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            if (timestamp == EARLIEST) {
                return Driver.JSON.numberNode(consumer.beginningOffsets(Set.of(partition)).get(partition));
            }
            if (timestamp == LATEST) {
                return Driver.JSON.numberNode(consumer.endOffsets(Set.of(partition)).get(partition));
            }
            OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(partition, timestamp)).get(partition);
            return found == null ? Driver.JSON.nullNode() : Driver.JSON.numberNode(found.offset());
        }
    }

    /** Milliseconds from sending a record to having it, for a consumer that waits for it. */
    static JsonNode latencies(JsonNode request) throws Exception {
        ArrayNode latencies = Driver.JSON.arrayNode();
        String topic = request.get("partitions").get(0).get(0).asText();
        KafkaConsumer<byte[], byte[]> consumer = assigned(request);
        try (KafkaProducer<byte[], byte[]> producer = producer(request)) {
            for (int sent = 0; sent < request.get("count").asInt(); sent++) {
                // Sends the consumer's next fetch, which then waits on the node.
                consumer.poll(POLL);
                long started = System.nanoTime();
                producer.send(new ProducerRecord<>(topic, new byte[1]));
                while (consumer.poll(Duration.ofSeconds(30)).isEmpty()) { }
                latencies.add((System.nanoTime() - started) / 1e6);
            }
        } finally {
            // Its last fetch is still waiting; do not wait with it.
            consumer.close(CloseOptions.timeout(Duration.ZERO));
        }
        return latencies;
    }

    static Map<String, Object> configs(JsonNode request) {
        Map<String, Object> configs = new HashMap<>();
        request.get("configs").properties().forEach(each -> configs.put(each.getKey(), each.getValue().asText()));
        return configs;
    }

    private static byte[] bytes(JsonNode base64) throws java.io.IOException {
        return base64.isNull() ? null : base64.binaryValue();
    }
}

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Kafka's own consumer as the only member of a group. */
class Groups {
    private static final Duration POLL = Duration.ofMillis(100);

    /** The values of records as text; or the error's code and text. */
    static JsonNode consume(JsonNode request) {
        ObjectNode result = Driver.JSON.objectNode();
        ArrayNode values = result.putArray("values");
        int count = request.get("count").asInt();
        long deadlineMs = System.currentTimeMillis() + request.get("timeout_ms").asLong();
        try (KafkaConsumer<byte[], byte[]> consumer =
                 new KafkaConsumer<>(Clients.configs(request), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(request.get("topic").asText()));
            while (values.size() < count && System.currentTimeMillis() < deadlineMs) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    values.add(new String(record.value(), StandardCharsets.UTF_8));
                }
            }
            consumer.commitSync();
        } catch (KafkaException thrown) {
            describe(thrown, result);
        }
        return result;
    }

    static void describe(Throwable thrown, ObjectNode result) {
        result.put("error_code", Errors.forException(thrown).code());
        result.put("error", thrown.toString());
    }
}

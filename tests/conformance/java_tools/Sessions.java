import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A producer and a consumer whose connections live longer than their sessions (KIP-368). */
class Sessions {
    private static final Duration POLL = Duration.ofMillis(20);

    /** Produces and consumes until both have authenticated again often enough, and says how many records that were. */
    static JsonNode outlive(JsonNode request) throws Exception {
        String topic = request.get("topic").asText();
        int wanted = request.get("reauthentications").asInt();
        long deadlineMs = System.currentTimeMillis() + request.get("timeout_ms").asLong();
        Map<String, Object> configs = Clients.configs(request);
        int sent = 0;
        int received = 0;
        double ofProducer = 0;
        double ofConsumer = 0;
        try (KafkaProducer<byte[], byte[]> producer =
                 new KafkaProducer<>(configs, new ByteArraySerializer(), new ByteArraySerializer());
             KafkaConsumer<byte[], byte[]> consumer =
                 new KafkaConsumer<>(configs, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            while (Math.min(ofProducer, ofConsumer) < wanted && System.currentTimeMillis() < deadlineMs) {
                producer.send(new ProducerRecord<>(topic, "x".getBytes(StandardCharsets.UTF_8))).get();
                sent++;
                received += consumer.poll(POLL).count();
                ofProducer = reauthentications(producer.metrics());
                ofConsumer = reauthentications(consumer.metrics());
            }
            while (received < sent && System.currentTimeMillis() < deadlineMs) {
                received += consumer.poll(POLL).count();
            }
        }
        ObjectNode result = Driver.JSON.objectNode();
        result.put("sent", sent);
        result.put("received", received);
        result.put("reauthentications", Math.min(ofProducer, ofConsumer));
        return result;
    }

    private static double reauthentications(Map<MetricName, ? extends Metric> metrics) {
        return metrics.entrySet().stream()
            .filter(each -> each.getKey().name().equals("successful-reauthentication-total"))
            .filter(each -> each.getKey().tags().size() == 1)
            .mapToDouble(each -> (Double) each.getValue().metricValue())
            .sum();
    }
}

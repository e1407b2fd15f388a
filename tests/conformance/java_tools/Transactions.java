import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.StringSerializer;

/** Kafka's own transactional producers, which stay between requests: each has a name. */
class Transactions {
    private static final Map<String, KafkaProducer<String, String>> PRODUCERS = new HashMap<>();

    /** Begins a transaction with a value in a topic. A producer that is new takes its id over first. */
    static JsonNode begin(JsonNode request) throws Exception {
        String name = request.get("name").asText();
        KafkaProducer<String, String> producer = PRODUCERS.get(name);
        if (producer == null) {
            producer = new KafkaProducer<>(Clients.configs(request), new StringSerializer(), new StringSerializer());
            PRODUCERS.put(name, producer);
            producer.initTransactions();
        }
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(request.get("topic").asText(), request.get("value").asText())).get();
        return Driver.JSON.nullNode();
    }

    /** Commits or aborts, and says with which exception that ended, if with any. */
    static JsonNode end(JsonNode request) {
        KafkaProducer<String, String> producer = PRODUCERS.get(request.get("name").asText());
        try {
            if (request.get("commits").asBoolean()) {
                producer.commitTransaction();
            } else {
                producer.abortTransaction();
            }
            return Driver.JSON.nullNode();
        } catch (KafkaException thrown) {
            return Driver.JSON.textNode(thrown.getClass().getSimpleName());
        }
    }

    static JsonNode close(JsonNode request) {
        KafkaProducer<String, String> producer = PRODUCERS.remove(request.get("name").asText());
        if (producer != null) {
            producer.close();
        }
        return Driver.JSON.nullNode();
    }
}

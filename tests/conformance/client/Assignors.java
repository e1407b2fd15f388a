import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Assigns with Kafka's own assignors: a JSON request per line (name, members, counts), and the
 * assignment of each member as [[topic, partition], ...].
 */
public class Assignors {
    static final ObjectMapper MAPPER = new ObjectMapper();
    static final Map<String, ConsumerPartitionAssignor> ASSIGNORS = Map.of(
        "range", new RangeAssignor(),
        "roundrobin", new RoundRobinAssignor(),
        "cooperative-sticky", new CooperativeStickyAssignor());

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ObjectNode answer = MAPPER.createObjectNode();
            try {
                answer.set("result", assign(MAPPER.readTree(line)));
            } catch (Throwable thrown) {
                answer.put("error", thrown.toString());
            }
            answers.println(MAPPER.writeValueAsString(answer));
            answers.flush();
        }
    }

    private static JsonNode assign(JsonNode request) {
        Node node = new Node(1, "localhost", 1);
        List<PartitionInfo> partitions = new ArrayList<>();
        request.get("counts").fields().forEachRemaining(topic -> {
            for (int index = 0; index < topic.getValue().asInt(); index++) {
                partitions.add(new PartitionInfo(topic.getKey(), index, node, new Node[] {node}, new Node[] {node}));
            }
        });
        Cluster cluster = new Cluster("cluster", List.of(node), partitions, Set.of(), Set.of());
        Map<String, Subscription> members = new HashMap<>();
        request.get("members").fields().forEachRemaining(member -> {
            JsonNode said = member.getValue();
            List<String> topics = new ArrayList<>();
            said.get("topics").forEach(topic -> topics.add(topic.asText()));
            List<TopicPartition> owned = new ArrayList<>();
            said.get("owned").forEach(each -> owned.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt())));
            Subscription subscription =
                new Subscription(topics, null, owned, said.get("generation").asInt(), Optional.empty());
            if (!said.get("instance_id").isNull()) {
                subscription.setGroupInstanceId(Optional.of(said.get("instance_id").asText()));
            }
            members.put(member.getKey(), subscription);
        });
        ObjectNode found = MAPPER.createObjectNode();
        ASSIGNORS.get(request.get("assignor").asText())
            .assign(cluster, new GroupSubscription(members)).groupAssignment()
            .forEach((member, assignment) -> {
                ArrayNode mine = found.putArray(member);
                assignment.partitions().forEach(each -> mine.addArray().add(each.topic()).add(each.partition()));
            });
        return found;
    }
}

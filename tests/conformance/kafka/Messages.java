import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.Readable;

/** Parses messages with Kafka's generated classes and writes them again. */
class Messages {
    private static final String[] PACKAGES = {
        "common.message", "common.metadata", "coordinator.group.generated", "coordinator.share.generated",
        "coordinator.transaction.generated", "raft.generated", "server.log.remote.metadata.storage.generated",
    };
    private static final HexFormat HEX = HexFormat.of();
    private static final Map<String, Codec> CODECS = new HashMap<>();

    /** What Kafka generates for one message: the constructor that parses, and the writer of JSON. */
    private record Codec(MethodHandle parse, MethodHandle toJson) {
        static Codec of(String name) throws Exception {
            Class<?> type = find(name);
            Class<?> converter = Class.forName(type.getName() + "JsonConverter");
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            return new Codec(
                lookup.findConstructor(type, MethodType.methodType(void.class, Readable.class, short.class)),
                lookup.findStatic(converter, "write",
                    MethodType.methodType(JsonNode.class, type, short.class, boolean.class)));
        }

        private static Class<?> find(String name) throws ClassNotFoundException {
            for (String folder : PACKAGES) {
                try {
                    return Class.forName("org.apache.kafka." + folder + "." + name);
                } catch (ClassNotFoundException notHere) {
                    continue;
                }
            }
            throw new ClassNotFoundException("Kafka has no message " + name);
        }
    }

    static JsonNode roundtrip(JsonNode request) {
        ArrayNode results = Judge.JSON.arrayNode();
        for (JsonNode item : request.get("items")) {
            results.add(roundtripOne(item.get(0).asText(), (short) item.get(1).asInt(), item.get(2).asText()));
        }
        return results;
    }

    private static ObjectNode roundtripOne(String name, short version, String hex) {
        ObjectNode result = Judge.JSON.objectNode();
        try {
            Codec codec = CODECS.get(name);
            if (codec == null) {
                CODECS.put(name, codec = Codec.of(name));
            }
            ByteBuffer buffer = ByteBuffer.wrap(HEX.parseHex(hex));
            Message message = (Message) codec.parse.invoke((Readable) new ByteBufferAccessor(buffer), version);
            // Not every generated class refuses a version that it does not have.
            if (version < message.lowestSupportedVersion() || version > message.highestSupportedVersion()) {
                throw new UnsupportedVersionException("Kafka has no version " + version + " of " + name);
            }
            result.put("unread", buffer.remaining());
            result.set("json", (JsonNode) codec.toJson.invoke(message, version, false));
            ByteBuffer written = MessageUtil.toByteBufferAccessor(message, version).buffer();
            result.put("hex", HEX.formatHex(MessageUtil.byteBufferToArray(written)));
        } catch (Throwable thrown) {
            result.put("error", Judge.stackTrace(thrown));
        }
        return result;
    }
}

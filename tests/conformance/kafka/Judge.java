import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.DumpLogSegments;
import org.slf4j.LoggerFactory;

/**
 * Shows our bytes and files to Apache Kafka's own classes. One JSON request per line of standard
 * input, one JSON answer per line of standard output, until standard input ends. An answer is
 * {"result": ...} or, where Kafka's class threw, {"error": stack trace}.
 */
public class Judge {
    static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    static final ObjectMapper MAPPER = new ObjectMapper();

    /** What a tool's call of exit becomes, so that the judge outlives it. */
    static class Exited extends RuntimeException {
        Exited(int status, String message) {
            super("exit status " + status + (message == null ? "" : ": " + message));
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        // Answers own standard output from here on: whatever a library prints goes elsewhere.
        System.setOut(System.err);
        Exit.setExitProcedure((status, message) -> { throw new Exited(status, message); });
        Exit.setHaltProcedure((status, message) -> { throw new Exited(status, message); });
        // The logging facade complains once about having no backend; not into a dump's output, please.
        LoggerFactory.getILoggerFactory();

        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ObjectNode answer = JSON.objectNode();
            try {
                answer.set("result", judge(MAPPER.readTree(line)));
            } catch (Throwable thrown) {
                answer.put("error", stackTrace(thrown));
            }
            answers.println(MAPPER.writeValueAsString(answer));
            answers.flush();
        }
    }

    private static JsonNode judge(JsonNode request) throws Exception {
        String command = request.get("command").asText();
        switch (command) {
            case "dump": return dump(request);
            case "roundtrip": return Messages.roundtrip(request);
            case "records": return Batches.read(request);
            case "build_records": return Batches.build(request);
            case "build_empty_batch": return Batches.buildEmpty(request);
            case "open_log": return Logs.open(request);
            default: throw new IllegalArgumentException("unknown command " + command);
        }
    }

    /** Runs the tool as the command line would, except that its exceptions come back as text. */
    private static JsonNode dump(JsonNode request) throws Exception {
        String[] arguments = MAPPER.convertValue(request.get("arguments"), String[].class);
        PrintStream out = System.out;
        PrintStream err = System.err;
        Lines stdout = new Lines();
        Lines stderr = new Lines();
        ObjectNode result = JSON.objectNode();
        System.setOut(stdout);
        System.setErr(stderr);
        try {
            DumpLogSegments.main(arguments);
        } catch (Throwable thrown) {
            result.put("exception", stackTrace(thrown));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        result.set("stdout", stdout.end());
        result.set("stderr", stderr.end());
        return result;
    }

    /** Keeps what was printed by line as the program meant them: a record's text may hold newlines. */
    private static class Lines extends PrintStream {
        private final ByteArrayOutputStream line;
        private final ArrayNode lines = JSON.arrayNode();

        Lines() {
            this(new ByteArrayOutputStream());
        }

        private Lines(ByteArrayOutputStream line) {
            super(line, false, StandardCharsets.UTF_8);
            this.line = line;
        }

        @Override public void println() {
            flush();
            lines.add(line.toString(StandardCharsets.UTF_8));
            line.reset();
        }

        @Override public void println(String text) {
            print(text);
            println();
        }

        @Override public void println(Object object) {
            println(String.valueOf(object));
        }

        ArrayNode end() {
            flush();
            if (line.size() > 0) {
                println();
            }
            return lines;
        }
    }

    static String stackTrace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}

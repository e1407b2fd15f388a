import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;
import org.slf4j.LoggerFactory;

/**
 * Runs Apache Kafka's command line tools and clients against a node, many in one process. One JSON
 * request per line of standard input, one JSON answer per line of standard output, until standard
 * input ends. An answer is {"result": ...} or, where the driver itself failed, {"error": ...}.
 */
public class Driver {
    static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    static final ObjectMapper MAPPER = new ObjectMapper();

    /** What a tool's call of exit becomes. Some catch even that and exit again: the first counts. */
    static class Exited extends Error {
        Exited(int status) {
            if (exitStatus == null) {
                exitStatus = status;
            }
        }
    }

    static Integer exitStatus;

    /** Scala keeps the stream that it finds first, so that one has to stay and lead elsewhere. */
    static class Switch extends OutputStream {
        OutputStream target = OutputStream.nullOutputStream();

        @Override public synchronized void write(int octet) throws java.io.IOException {
            target.write(octet);
        }

        @Override public synchronized void write(byte[] bytes, int start, int length) throws java.io.IOException {
            target.write(bytes, start, length);
        }
    }

    static final Switch OUT = new Switch();
    static final Switch ERR = new Switch();
    static final List<Runnable> SHUTDOWN_HOOKS = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(new PrintStream(OUT, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ERR, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((status, message) -> { throw new Exited(status); });
        Exit.setHaltProcedure((status, message) -> { throw new Exited(status); });
        Exit.setShutdownHookAdder((name, hook) -> SHUTDOWN_HOOKS.add(hook));

        // The logging facade complains once about having no backend; not into a tool's output, please.
        LoggerFactory.getILoggerFactory();

        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ObjectNode answer = JSON.objectNode();
            try {
                answer.set("result", answer(MAPPER.readTree(line)));
            } catch (Throwable thrown) {
                answer.put("error", stackTrace(thrown));
            }
            answers.println(MAPPER.writeValueAsString(answer));
            answers.flush();
        }
    }

    /** What Kafka's classes read as system properties, and would be options of their own process. */
    private static JsonNode set(JsonNode request) {
        request.get("properties").properties().forEach(each -> System.setProperty(each.getKey(), each.getValue().asText()));
        return JSON.nullNode();
    }

    private static JsonNode answer(JsonNode request) throws Exception {
        String command = request.get("command").asText();
        switch (command) {
            case "run": return run(request);
            case "set": return set(request);
            case "produce": return Clients.produce(request);
            case "consume": return Clients.consume(request);
            case "consume-in-group": return Groups.consume(request);
            case "outlive-sessions": return Sessions.outlive(request);
            case "offsets": return Clients.offsets(request);
            case "latencies": return Clients.latencies(request);
            case "begin-transaction": return Transactions.begin(request);
            case "end-transaction": return Transactions.end(request);
            case "close-transactional": return Transactions.close(request);
            default: throw new IllegalArgumentException("unknown command " + command);
        }
    }

    /** Runs a tool as the command line would: main, then what it left for the end of the process. */
    private static JsonNode run(JsonNode request) throws Exception {
        String[] arguments = MAPPER.convertValue(request.get("arguments"), String[].class);
        InputStream stdin = System.in;
        ByteArrayOutputStream stdout = new ByteArrayOutputStream();
        ByteArrayOutputStream stderr = new ByteArrayOutputStream();
        System.setIn(new ByteArrayInputStream(request.get("stdin").asText().getBytes(StandardCharsets.UTF_8)));
        OUT.target = stdout;
        ERR.target = stderr;
        int status;
        try {
            status = mainOf(request.get("tool").asText(), arguments);
            for (Runnable hook : SHUTDOWN_HOOKS) {
                hook.run();
            }
        } finally {
            SHUTDOWN_HOOKS.clear();
            System.setIn(stdin);
            OUT.target = OutputStream.nullOutputStream();
            ERR.target = OutputStream.nullOutputStream();
        }
        ObjectNode result = JSON.objectNode();
        result.put("status", status);
        result.put("stdout", stdout.toString(StandardCharsets.UTF_8));
        result.put("stderr", stderr.toString(StandardCharsets.UTF_8));
        return result;
    }

    private static int mainOf(String tool, String[] arguments) throws Exception {
        exitStatus = null;
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException thrown) {
            if (exitStatus == null) {
                System.err.println(stackTrace(thrown.getCause()));
                return 1;
            }
        }
        return exitStatus == null ? 0 : exitStatus;
    }

    static String stackTrace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}

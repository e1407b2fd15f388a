import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Cleans partitions' directories, in place, with Kafka's own cleaner. Each request names one, and
 * the times at which it is cleaned; the answer has, for each time, the end of the cleaned part and
 * the bytes of all segments.
 */
class Cleaning {
    private static final int FIFTEEN_MINUTES_MS = 15 * 60 * 1000;
    private static final int OFFSET_MAP_BYTES = 1 << 16;
    private static final int BUFFER_BYTES = 1 << 16;

    private record StoppedClock(long milliseconds) implements Time {
        @Override public long nanoseconds() {
            return milliseconds * 1_000_000;
        }

        @Override public void sleep(long ms) { }

        @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    /** Background work never runs: what was replaced is left as .deleted files. */
    private static class IdleScheduler implements Scheduler {
        @Override public void startup() { }

        @Override public void shutdown() { }

        @Override public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            return null;
        }

        @Override public void resizeThreadPool(int size) { }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = Judge.MAPPER.readTree(line);
            File directory = new File(request.get("directory").asText());
            LogConfig config = new LogConfig(Judge.MAPPER.convertValue(request.get("config"), Map.class));
            ObjectNode answer = Judge.JSON.objectNode();
            ArrayNode rounds = answer.putArray("result");
            for (JsonNode nowMs : request.get("times_ms")) {
                clean(directory, config, new StoppedClock(nowMs.asLong()), rounds.addObject());
            }
            System.out.println(Judge.MAPPER.writeValueAsString(answer));
        }
    }

    private static void clean(File directory, LogConfig config, Time clock, ObjectNode answer) throws Exception {
        UnifiedLog log = UnifiedLog.create(
            directory,
            config,
            0,
            0,
            new IdleScheduler(),
            new BrokerTopicStats(),
            clock,
            FIFTEEN_MINUTES_MS,
            new ProducerStateManagerConfig(Integer.MAX_VALUE, false),
            FIFTEEN_MINUTES_MS,
            new LogDirFailureChannel(1),
            true,
            Optional.empty());
        try {
            log.updateHighWatermark(log.logEndOffset());
            long uncleanable = Math.min(log.lastStableOffset(), log.activeSegment().baseOffset());
            LogToClean dirty = new LogToClean(log, 0, uncleanable, true);
            long end = dirty.cleanableBytes() == 0 ? 0 : cleaner(clock).doClean(dirty, clock.milliseconds()).getKey();
            StringBuilder bytes = new StringBuilder();
            for (LogSegment segment : log.logSegments()) {
                bytes.append(HexFormat.of().formatHex(Files.readAllBytes(segment.log().file().toPath())));
            }
            answer.put("end_offset", end).put("log", bytes.toString());
        } finally {
            log.removeLogMetrics();
            log.closeHandlers();
        }
    }

    private static Cleaner cleaner(Time clock) throws Exception {
        Throttler unlimited = new Throttler(Double.MAX_VALUE, Long.MAX_VALUE, "throttler", "entries", clock);
        SkimpyOffsetMap offsetMap = new SkimpyOffsetMap(OFFSET_MAP_BYTES);
        return new Cleaner(0, offsetMap, BUFFER_BYTES, BUFFER_BYTES, 0.9, unlimited, clock, partition -> { });
    }
}

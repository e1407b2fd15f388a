import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.AbortedTxn;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** Opens a partition's directory as a broker does when it starts, recovery included. */
class Logs {
    private static final int FIFTEEN_MINUTES_MS = 15 * 60 * 1000;

    /** Time stands still, so that no producer expires because a test is run years later. */
    private record StoppedClock(long milliseconds) implements Time {
        @Override public long nanoseconds() {
            return milliseconds * 1_000_000;
        }

        @Override public void sleep(long ms) { }

        @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    /** Background work never runs: what is asked for is the state after loading. */
    private static class IdleScheduler implements Scheduler {
        @Override public void startup() { }

        @Override public void shutdown() { }

        @Override public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            return null;
        }

        @Override public void resizeThreadPool(int size) { }
    }

    static JsonNode open(JsonNode request) throws Exception {
        BrokerTopicStats stats = new BrokerTopicStats();
        UnifiedLog log = UnifiedLog.create(
            new File(request.get("directory").asText()),
            new LogConfig(Judge.MAPPER.convertValue(request.get("config"), Map.class)),
            request.get("log_start_offset").asLong(),
            request.get("recovery_point").asLong(),
            new IdleScheduler(),
            stats,
            new StoppedClock(request.get("now_ms").asLong()),
            FIFTEEN_MINUTES_MS,
            new ProducerStateManagerConfig(request.get("producer_id_expiration_ms").asInt(), false),
            FIFTEEN_MINUTES_MS,
            new LogDirFailureChannel(1),
            request.get("last_shutdown_clean").asBoolean(),
            Optional.empty());
        try {
            return describe(log);
        } finally {
            log.removeLogMetrics();
            log.closeHandlers();
            stats.close();
        }
    }

    private static ObjectNode describe(UnifiedLog log) throws Exception {
        ObjectNode described = Judge.JSON.objectNode();
        log.updateHighWatermark(log.logEndOffset());
        described.put("log_start_offset", log.logStartOffset());
        described.put("log_end_offset", log.logEndOffset());
        described.put("last_stable_offset", log.lastStableOffset());
        described.put("recovery_point", log.recoveryPoint());
        described.put("topic_id", log.topicId().map(Uuid::toString).orElse(null));
        ArrayNode epochs = described.putArray("leader_epochs");
        for (EpochEntry entry : log.leaderEpochCache().epochEntries()) {
            epochs.addObject().put("epoch", entry.epoch()).put("start_offset", entry.startOffset());
        }
        ArrayNode producers = described.putArray("producers");
        for (ProducerStateEntry entry : new TreeMap<>(log.producerStateManager().activeProducers()).values()) {
            producers.add(describe(entry));
        }
        ArrayNode segments = described.putArray("segments");
        ArrayNode aborted = described.putArray("aborted_txns");
        for (LogSegment segment : log.logSegments()) {
            segments.addObject()
                .put("base_offset", segment.baseOffset())
                .put("size", segment.size())
                .put("largest_timestamp", orNull(segment.largestRecordTimestamp()))
                .put("index_entries", segment.offsetIndex().entries())
                .put("time_index_entries", segment.timeIndex().entries());
            for (AbortedTxn transaction : segment.txnIndex().allAbortedTxns()) {
                aborted.add(describe(transaction));
            }
        }
        return described;
    }

    private static ObjectNode describe(ProducerStateEntry entry) {
        ObjectNode described = Judge.JSON.objectNode();
        described.put("producer_id", entry.producerId());
        described.put("producer_epoch", entry.producerEpoch());
        described.put("coordinator_epoch", entry.coordinatorEpoch());
        described.put("last_timestamp", entry.lastTimestamp());
        described.put("current_txn_first_offset", orNull(entry.currentTxnFirstOffset()));
        ArrayNode batches = described.putArray("batches");
        for (BatchMetadata batch : entry.batchMetadata()) {
            batches.addObject()
                .put("first_sequence", batch.firstSeq())
                .put("last_sequence", batch.lastSeq())
                .put("first_offset", batch.firstOffset())
                .put("last_offset", batch.lastOffset())
                .put("timestamp", batch.timestamp());
        }
        return described;
    }

    private static ObjectNode describe(AbortedTxn transaction) {
        return Judge.JSON.objectNode()
            .put("producer_id", transaction.producerId())
            .put("first_offset", transaction.firstOffset())
            .put("last_offset", transaction.lastOffset())
            .put("last_stable_offset", transaction.lastStableOffset());
    }

    private static Long orNull(OptionalLong value) {
        return value.isPresent() ? value.getAsLong() : null;
    }
}

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.apache.kafka.common.utils.Utils;

/** Reads and builds record batches with Kafka's own classes. */
class Batches {
    private static final HexFormat HEX = HexFormat.of();

    /** The batches of a file ("file") or of bytes ("hex"), up to the first that Kafka cannot read. */
    static JsonNode read(JsonNode request) throws Exception {
        if (request.has("file")) {
            try (FileRecords records = FileRecords.open(new File(request.get("file").asText()), false)) {
                return read(records.batches(), records.sizeInBytes());
            }
        }
        byte[] bytes = HEX.parseHex(request.get("hex").asText());
        return read(MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches(), bytes.length);
    }

    private static ObjectNode read(Iterable<? extends RecordBatch> batches, int size) {
        ObjectNode result = Judge.JSON.objectNode();
        ArrayNode read = result.putArray("batches");
        int position = 0;
        try {
            for (RecordBatch batch : batches) {
                read.add(describe(batch, position));
                position += batch.sizeInBytes();
            }
        } catch (Exception thrown) {
            result.put("error", Judge.stackTrace(thrown));
        }
        result.put("trailing_bytes", size - position);
        return result;
    }

    private static ObjectNode describe(RecordBatch batch, int position) {
        ObjectNode described = Judge.JSON.objectNode();
        described.put("position", position);
        described.put("size", batch.sizeInBytes());
        described.put("base_offset", batch.baseOffset());
        described.put("last_offset", batch.lastOffset());
        described.put("count", batch.countOrNull());
        described.put("magic", batch.magic());
        described.put("partition_leader_epoch", batch.partitionLeaderEpoch());
        described.put("compression", batch.compressionType().name);
        described.put("timestamp_type", batch.timestampType().name);
        described.put("max_timestamp", batch.maxTimestamp());
        described.put("producer_id", batch.producerId());
        described.put("producer_epoch", batch.producerEpoch());
        described.put("base_sequence", batch.baseSequence());
        described.put("last_sequence", batch.lastSequence());
        described.put("is_transactional", batch.isTransactional());
        described.put("is_control", batch.isControlBatch());
        described.put("delete_horizon_ms",
            batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : null);
        described.put("crc", batch.checksum());
        described.put("is_valid", batch.isValid());
        ArrayNode records = described.putArray("records");
        String error = null;
        try {
            for (Record record : batch) {
                records.add(describe(record));
            }
        } catch (Exception thrown) {
            error = Judge.stackTrace(thrown);
        }
        described.put("error", error);
        return described;
    }

    private static ObjectNode describe(Record record) {
        ObjectNode described = Judge.JSON.objectNode();
        described.put("offset", record.offset());
        described.put("timestamp", record.timestamp());
        described.put("sequence", record.sequence());
        described.put("key", hex(record.hasKey() ? record.key() : null));
        described.put("value", hex(record.hasValue() ? record.value() : null));
        ArrayNode headers = described.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = header.value();
            headers.addArray().add(header.key()).add(value == null ? null : HEX.formatHex(value));
        }
        return described;
    }

    /** One batch out of what the request names; records give their own offsets. */
    static JsonNode build(JsonNode request) {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
            new ByteBufferOutputStream(1024),
            RecordBatch.CURRENT_MAGIC_VALUE,
            Compression.of(request.get("compression").asText()).build(),
            TimestampType.forName(request.get("timestamp_type").asText()),
            request.get("base_offset").asLong(),
            request.get("log_append_time").asLong(),
            request.get("producer_id").asLong(),
            (short) request.get("producer_epoch").asInt(),
            request.get("base_sequence").asInt(),
            request.get("is_transactional").asBoolean(),
            request.get("is_control").asBoolean(),
            request.get("partition_leader_epoch").asInt(),
            Integer.MAX_VALUE,
            request.get("delete_horizon_ms").asLong(RecordBatch.NO_TIMESTAMP));
        for (JsonNode record : request.get("records")) {
            append(builder, record);
        }
        if (!request.get("last_offset").isNull()) {
            builder.overrideLastOffset(request.get("last_offset").asLong());
        }
        return Judge.JSON.textNode(hex(builder.build().buffer()));
    }

    /** A batch whose records are all gone, as the cleaner leaves it to remember its producer. */
    static JsonNode buildEmpty(JsonNode request) {
        ByteBuffer buffer = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(
            buffer,
            RecordBatch.CURRENT_MAGIC_VALUE,
            request.get("producer_id").asLong(),
            (short) request.get("producer_epoch").asInt(),
            request.get("base_sequence").asInt(),
            request.get("base_offset").asLong(),
            request.get("last_offset").asLong(),
            request.get("partition_leader_epoch").asInt(),
            TimestampType.CREATE_TIME,
            request.get("max_timestamp").asLong(),
            request.get("is_transactional").asBoolean(),
            request.get("is_control").asBoolean());
        return Judge.JSON.textNode(hex(buffer.flip()));
    }

    private static void append(MemoryRecordsBuilder builder, JsonNode record) {
        List<Header> headers = new ArrayList<>();
        for (JsonNode header : record.get("headers")) {
            headers.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
        }
        SimpleRecord simple = new SimpleRecord(record.get("timestamp").asLong(),
            bytes(record.get("key")), bytes(record.get("value")), headers.toArray(new Header[0]));
        if (builder.isControlBatch()) {
            builder.appendControlRecordWithOffset(record.get("offset").asLong(), simple);
        } else {
            builder.appendWithOffset(record.get("offset").asLong(), simple);
        }
    }

    private static byte[] bytes(JsonNode hex) {
        return hex.isNull() ? null : HEX.parseHex(hex.asText());
    }

    private static String hex(ByteBuffer buffer) {
        return buffer == null ? null : HEX.formatHex(Utils.toArray(buffer));
    }
}

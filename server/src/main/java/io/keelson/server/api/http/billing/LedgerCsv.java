package io.keelson.server.api.http.billing;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.TokenUsage;
import io.keelson.server.base.json.Json;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The ledger as CSV (RFC 4180, UTF-8), made while it is sent: a chunk of entries is read when the one before has gone, so
 * that neither memory nor a connection to the database is held for a slow reader. A text that a spreadsheet would take
 * for a formula has an apostrophe before it.
 */
final class LedgerCsv {

    private static final int CHUNK_SIZE = 1_000;
    private static final String FORMULA = "=+-@\t\r";
    private static final String HEADING =
            "id,created_at,transaction_type,amount,cost,debit_account,credit_account,run_id,"
                    + "attempt_number,step_id,tool,model,agent,tokens,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,reasoning_tokens,"
                    + "price_version,purpose,estimated,reason,actor_type,actor_id,idempotency_key\r\n";

    /** Reads entries in order. */
    interface Source {
        List<LedgerEntry> read(long after, int limit);
    }

    private LedgerCsv() {}

    static InputStream stream(Source source) {
        return new Stretches(source);
    }

    private static final class Stretches extends InputStream {

        private final Source source;
        private byte[] chunk;
        private int at;
        private long last;

        /** Reads the first one, so that what fails at once is answered as a failure. */
        Stretches(Source source) {
            this.source = source;
            this.chunk = (HEADING + next()).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public int read() {
            return more() ? chunk[at++] & 0xFF : -1;
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            if (length == 0) {
                return 0;
            }
            if (!more()) {
                return -1;
            }
            int count = Math.min(length, chunk.length - at);
            System.arraycopy(chunk, at, into, offset, count);
            at += count;
            return count;
        }

        private boolean more() {
            if (at == chunk.length) {
                chunk = next().getBytes(StandardCharsets.UTF_8);
                at = 0;
            }
            return at < chunk.length;
        }

        private String next() {
            List<LedgerEntry> entries = source.read(last, CHUNK_SIZE);
            if (!entries.isEmpty()) {
                last = entries.getLast().id();
            }
            return entries.stream().map(LedgerCsv::line).collect(Collectors.joining());
        }
    }

    static String line(LedgerEntry entry) {
        return Stream
                .of(entry.id(), Json.time(entry.createdAt()), entry.transactionType(), entry.amount().toPlainString(),
                        entry.cost() == null ? "" : entry.cost().toPlainString(), entry.debitAccount(),
                        entry.creditAccount(), plain(entry.runId()), plain(entry.attemptNumber()),
                        plain(entry.stepId()),
                        text(entry.tool()), text(entry.model()), text(entry.agent()), plain(entry.tokens()),
                        part(entry, TokenUsage::input), part(entry, TokenUsage::cacheRead),
                        part(entry, TokenUsage::cacheWrite),
                        part(entry, TokenUsage::output), part(entry, TokenUsage::reasoning),
                        plain(entry.priceVersion()),
                        text(entry.purpose()), entry.estimated() ? "true" : "", text(entry.reason()), entry.actorType(),
                        text(entry.actorId()), text(entry.idempotencyKey()))
                .map(String::valueOf).collect(Collectors.joining(",", "", "\r\n"));
    }

    private static String part(LedgerEntry entry, ToLongFunction<TokenUsage> part) {
        TokenUsage usage = entry.usage();
        return usage == null ? "" : Long.toString(part.applyAsLong(usage));
    }

    private static String plain(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }

    private static String text(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return "";
        }
        String harmless = FORMULA.indexOf(text.charAt(0)) < 0 ? text : "'" + text;
        return harmless.chars().anyMatch(c -> c == ',' || c == '"' || c == '\r' || c == '\n')
                ? '"' + harmless.replace("\"", "\"\"") + '"'
                : harmless;
    }
}

package io.keelson.client;

import io.keelson.api.money.Adjustment;
import io.keelson.api.money.Balance;
import io.keelson.api.money.Grant;
import io.keelson.api.money.LedgerEntry;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Credits of the workspace; 1 credit is 1 USD. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Credits {

    private final Api api;

    Credits(Api api) {
        this.api = api;
    }

    /** Reads the balance of the workspace, in credits. */
    public Balance balance() {
        return Json.document(api.get("/credits"), Balance.class);
    }

    /**
     * Gives the workspace credits.
     *
     * @param amount more than 0, at most 6 decimal places
     */
    public LedgerEntry grant(BigDecimal amount, @Nullable String reason) {
        return grant(amount, reason, UUID.randomUUID().toString());
    }

    /**
     * Grants credits, at most once per key.
     *
     * @param key 1 to 255 characters
     * @throws KeelsonException {@code IDEMPOTENCY_KEY_CONFLICT} if the key was used for another grant
     */
    public LedgerEntry grant(BigDecimal amount, @Nullable String reason, String key) {
        return book("/credits/grants", Json.request(new Grant(amount, reason)), key);
    }

    /**
     * Corrects an error by a transfer; neither account is {@link Account#RESERVED}.
     *
     * @param amount more than 0, at most 6 decimal places
     * @param key as of {@link #grant(BigDecimal, String, String)}
     * @throws KeelsonException {@code INSUFFICIENT_CREDITS}, {@code BALANCE_OUT_OF_RANGE}
     */
    public LedgerEntry adjust(Account from, Account to, BigDecimal amount, String reason, String key) {
        return book("/ledger/adjustments", Json.request(new Adjustment(amount, from.wire(), to.wire(), reason)), key);
    }

    /**
     * Sums of charges.
     *
     * @param from inclusive; null for 30 days before {@code to}
     * @param to exclusive; null for now
     */
    public Usage usage(Usage.By by, @Nullable Instant from, @Nullable Instant to) {
        return usage(by, null, from, to);
    }

    /**
     * Sums charges of one run.
     *
     * @param runId null for all runs
     */
    public Usage usage(Usage.By by, @Nullable String runId, @Nullable Instant from, @Nullable Instant to) {
        return Json.document(api.get(RequestPath.of("/usage").with("by", by.name().toLowerCase(Locale.ROOT))
                .with("run_id", runId).with("from", from).with("to", to).toString()), Usage.class);
    }

    private LedgerEntry book(String path, JsonNode body, String key) {
        Call call = Call.post(path, body).keyed(key);
        return Json.document(api.send(call).body(), LedgerEntry.class);
    }
}

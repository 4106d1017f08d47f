package io.keelson.server.annex.effect;

import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRefusedException;
import io.keelson.server.base.outbound.OutboundRequest;
import io.keelson.server.base.outbound.OutboundResponse;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ObjectNode;

/** HTTP client of a provider: sends commands and judges by the answer whether each was done. */
final class Provider {

    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_REFERENCE = 500;
    private static final int MAX_MESSAGE = 2_000;
    private static final Set<Integer> OF_THE_COMMAND = Set.of(400, 402, 422);
    private static final Duration MAX_WAIT = Duration.ofHours(1);

    private final OutboundClient client;
    private final @Nullable String token;
    private final Duration timeout;

    /**
     * @param token sent as bearer token; null if absent
     * @param timeout of one call, from the name's look-up to the last byte
     */
    public Provider(OutboundClient client, @Nullable String token, Duration timeout) {
        this.client = client;
        this.token = token;
        this.timeout = timeout;
    }

    /** Sends a command. */
    CommandOutcome post(String url, EffectAdapter.Effect effect, ObjectNode body, boolean named)
            throws InterruptedException {
        Map<String, String> headers = headers();
        headers.put("Content-Type", "application/json");
        headers.put("Idempotency-Key", effect.providerKey());
        try {
            OutboundResponse answer = client.send(new OutboundRequest("POST", url, headers,
                    body.toString().getBytes(StandardCharsets.UTF_8), timeout, MAX_BYTES));
            return judge(answer, effect, named);
        } catch (OutboundRefusedException e) {
            return e.code().equals("RESPONSE_TOO_LARGE") || effect.repeated()
                    ? new CommandOutcome.Unknown(e.code(), message(e))
                    : new CommandOutcome.Refused(e.code(), message(e));
        } catch (ConnectException | UnknownHostException | NoRouteToHostException e) {
            return new CommandOutcome.NotDone("PROVIDER_UNREACHABLE", message(e), null);
        } catch (IOException e) {
            return new CommandOutcome.Unknown("PROVIDER_SILENT", message(e));
        }
    }

    /** Reads a document. */
    ObjectNode get(String url) throws ProviderUnavailableException, InterruptedException {
        try {
            OutboundResponse answer = client.send(new OutboundRequest("GET", url, headers(), null, timeout, MAX_BYTES));
            ObjectNode document = answer.status() / 100 == 2 ? object(answer) : null;
            if (document == null) {
                throw new ProviderUnavailableException("the provider answered " + answer.status()
                        + (answer.status() / 100 == 2 ? " without a JSON object" : ""));
            }
            return document;
        } catch (IOException e) {
            throw new ProviderUnavailableException(message(e));
        }
    }

    private Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Accept", "application/json");
        headers.put("User-Agent", "keelson");
        if (token != null) {
            headers.put("Authorization", "Bearer " + token);
        }
        return headers;
    }

    /**
     * Judges a refusal. After an attempt that may have arrived, only a refusal about the command itself counts: an
     * authentication or routing error says nothing about that attempt.
     */
    private CommandOutcome judge(OutboundResponse answer, EffectAdapter.Effect effect, boolean named) {
        int status = answer.status();
        String code = "HTTP_STATUS_" + status;
        String message = "the provider answered " + status + said(answer);
        if (status / 100 == 2) {
            return done(answer, named);
        }
        if (status == 429) {
            return new CommandOutcome.NotDone(code, message, retryAfter(answer));
        }
        boolean open = status == 408 || status == 425 || status >= 500
                || effect.repeated() && !OF_THE_COMMAND.contains(status);
        return open ? new CommandOutcome.Unknown(code, message) : new CommandOutcome.Refused(code, message);
    }

    private static CommandOutcome done(OutboundResponse answer, boolean named) {
        ObjectNode document = answer.body().length == 0 && !named ? Json.object()
                : object(answer);
        if (document == null) {
            return new CommandOutcome.Unknown("PROVIDER_ANSWER_INVALID",
                    "the provider answered " + answer.status() + " without a JSON object");
        }
        String reference = document.path("id").asString("");
        if (named && reference.isBlank() || reference.length() > MAX_REFERENCE) {
            return new CommandOutcome.Unknown("PROVIDER_ANSWER_INVALID",
                    "the provider answered " + answer.status() + " without an 'id' of at most " + MAX_REFERENCE
                            + " characters");
        }
        return new CommandOutcome.Done(reference.isBlank() ? null : reference, document);
    }

    private static @Nullable ObjectNode object(OutboundResponse answer) {
        try {
            return OutsideJson.read(answer.body()) instanceof ObjectNode object
                    && SafeText.clean(object) instanceof ObjectNode clean ? clean : null;
        } catch (JacksonException e) {
            return null;
        }
    }

    private static String said(OutboundResponse answer) {
        String text = SafeText.clean(new String(answer.body(), StandardCharsets.UTF_8)).strip();
        return text.isEmpty() ? "" : ": " + text.substring(0, Math.min(text.length(), MAX_MESSAGE));
    }

    private static @Nullable Duration retryAfter(OutboundResponse answer) {
        String seconds = answer.header("retry-after");
        if (seconds == null || !seconds.strip().matches("[0-9]{1,6}")) {
            return null;
        }
        Duration wait = Duration.ofSeconds(Long.parseLong(seconds.strip()));
        return wait.compareTo(MAX_WAIT) > 0 ? MAX_WAIT : wait;
    }

    private static String message(IOException e) {
        return e.getClass().getSimpleName() + ": " + SafeText.clean(String.valueOf(e.getMessage()));
    }
}

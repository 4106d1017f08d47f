package io.keelson.server.outlet.webhook;

import io.keelson.core.run.TraceParent;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.outbound.OutboundRefusedException;
import io.keelson.server.base.outbound.OutboundRequest;
import io.keelson.server.base.outbound.OutboundResponse;
import io.keelson.server.outlet.notice.MailAddress;
import io.keelson.server.outlet.notice.Mailer;
import io.keelson.server.outlet.notice.Notice;
import io.keelson.server.outlet.notice.Notices;
import io.keelson.server.outlet.notice.SlackMessage;
import io.keelson.server.outlet.notice.TeamsMessage;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes one attempt at a delivery, in the form of its endpoint. */
final class DeliveryTransport {

    private static final Logger LOG = LoggerFactory.getLogger(DeliveryTransport.class);
    private static final int MAX_ANSWER_BYTES = 1 << 20;
    private static final int MAX_ERROR_LENGTH = 500;
    private static final int NOT_FOUND = 404;
    private static final int GONE = 410;
    private static final int TOO_MANY = 429;
    private static final int MAIL_ACCEPTED = 250;
    private static final long LONGEST_PAUSE_SECONDS = 3_600;

    /**
     * The outcome of an attempt.
     *
     * @param status of the answer, or code of a mail server's reply; null without one
     * @param error null after success
     * @param gone whether the receiver is gone for good
     * @param pause that the receiver requests, after which the attempt does not count; null if absent
     */
    record Outcome(@Nullable Integer status, @Nullable String error, boolean gone, @Nullable Duration pause) {}

    /** The outcome of a delivery whose recipient does not need its messages any more. */
    private static final Outcome UNNEEDED = new Outcome(null, null, false, null);

    private final OutboundClient client;
    private final Notices notices;
    private final @Nullable Mailer mailer;
    private final Clock clock;
    private final Duration timeout;

    /** @param mailer null for a server without a mail server */
    DeliveryTransport(OutboundClient client, Notices notices, @Nullable Mailer mailer, Clock clock, Duration timeout) {
        this.client = client;
        this.notices = notices;
        this.mailer = mailer;
        this.clock = clock;
        this.timeout = timeout;
    }

    Outcome attempt(Outgoing delivery, @Nullable TraceParent place) throws InterruptedException {
        if (delivery.lost() != null) {
            LOG.warn("webhook {} cannot be signed: {}", delivery.endpoint(), delivery.lost());
            return failed(null, delivery.lost());
        }
        if (delivery.owner() != null && !notices.mayRead(target(delivery))) {
            return new Outcome(null, "its owner " + delivery.owner() + " may not read the workspace's runs any more",
                    true,
                    null);
        }
        try {
            List<Notice> messages = delivery.format().forPeople() ? written(delivery) : List.of();
            if (delivery.format().forPeople() && messages.isEmpty()) {
                return UNNEEDED;
            }
            return switch (delivery.format()) {
                case STANDARD -> outcome(delivery, sent(standard(delivery, place)));
                case SLACK -> outcome(delivery, sent(message(delivery, SlackMessage.of(messages))));
                case TEAMS -> outcome(delivery, sent(message(delivery, TeamsMessage.of(messages))));
                case MAIL -> mailed(delivery, messages);
            };
        } catch (Mailer.Refused e) {
            return failed(e.code() < 0 ? null : (Integer) e.code(), text(e));
        } catch (IOException e) {
            return failed(null, text(e));
        }
    }

    /** The message may quote an answer that is not HTTP, and PostgreSQL rejects NUL in text. */
    private static String text(IOException failure) {
        String text = String.valueOf(failure.getMessage()).replace('\0', '\uFFFD');
        return text.substring(0, Math.min(MAX_ERROR_LENGTH, text.length()));
    }

    private static Outcome failed(@Nullable Integer status, String error) {
        return new Outcome(status, error, false, null);
    }

    private Outcome mailed(Outgoing delivery, List<Notice> messages) throws IOException {
        if (mailer == null) {
            return failed(null, "this server has no mail server: KEELSON_SMTP_HOST is empty");
        }
        String to = Objects.requireNonNull(MailAddress.ofUrl(delivery.url()));
        mailer.send(to, messages, delivery.id(), clock.instant());
        return new Outcome(MAIL_ACCEPTED, null, false, null);
    }

    private List<Notice> written(Outgoing delivery) {
        Notices.Target target = target(delivery);
        return delivery.contents().stream().<@Nullable Notice>map(each -> notices.write(target, each.body()))
                .filter(Objects::nonNull).map(Objects::requireNonNull).toList();
    }

    private static Notices.Target target(Outgoing delivery) {
        return new Notices.Target(delivery.workspace(), delivery.endpoint(), delivery.recipient(), delivery.owner());
    }

    private static Outcome outcome(Outgoing delivery, OutboundResponse response) {
        int status = response.status();
        if (status >= 200 && status < 300) {
            return new Outcome(status, null, false, null);
        }
        boolean people = delivery.format().forPeople();
        return new Outcome(status, "answered " + status, status == GONE || people && status == NOT_FOUND,
                people && status == TOO_MANY ? pause(response.header("retry-after")) : null);
    }

    private static @Nullable Duration pause(@Nullable String retryAfter) {
        try {
            long seconds = retryAfter == null ? 0 : Long.parseLong(retryAfter.strip());
            return seconds <= 0 ? null : Duration.ofSeconds(Math.min(LONGEST_PAUSE_SECONDS, seconds));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** Sends it, once more after a broken connection: the receiver may have closed a pooled one. */
    private OutboundResponse sent(OutboundRequest request) throws IOException, InterruptedException {
        try {
            return client.sendKept(request);
        } catch (OutboundRefusedException | InterruptedIOException | ConnectException | UnknownHostException e) {
            throw e;
        } catch (IOException e) {
            return client.sendKept(request);
        }
    }

    private OutboundRequest standard(Outgoing delivery, @Nullable TraceParent place) {
        String id = delivery.id();
        String body = delivery.contents().getFirst().body();
        long now = clock.instant().getEpochSecond();
        String signatures = delivery.secrets().stream().map(secret -> secret.sign(id, now, body))
                .collect(Collectors.joining(" "));
        Map<String, String> headers = new LinkedHashMap<>(Map.of("content-type", "application/json", "user-agent",
                "Keelson", "webhook-id", id, "webhook-timestamp", Long.toString(now), "webhook-signature",
                signatures));
        if (place != null) {
            headers.put("traceparent", place.text());
        }
        return request(delivery, headers, body);
    }

    private OutboundRequest message(Outgoing delivery, String body) {
        return request(delivery, Map.of("content-type", "application/json", "user-agent", "Keelson"), body);
    }

    private OutboundRequest request(Outgoing delivery, Map<String, String> headers, String body) {
        return new OutboundRequest("POST", delivery.url(), headers, body.getBytes(StandardCharsets.UTF_8), timeout,
                MAX_ANSWER_BYTES);
    }
}

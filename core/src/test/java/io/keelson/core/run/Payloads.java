package io.keelson.core.run;

import io.keelson.core.money.Tokens;
import io.keelson.core.policy.RetryDecision;
import io.keelson.core.policy.RetryReason;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All records of payloads, with samples of them: one that has all its members, and one that has no more than it must. */
public final class Payloads {
    private static final RetryDecision DECISION = new RetryDecision(RetryDecision.Action.RETRY,
            RetryReason.RETRY_SCHEDULED, Duration.ofSeconds(1), 1, 1, 1, 1);

    private Payloads() {}

    /** One full sample for each type, in the order of the types. */
    public static List<Payload> all() {
        return records(Payload.class).map(type -> (Payload) sample(type, true))
                .sorted(Comparator.comparing(Payload::type)).toList();
    }

    /** What the record writes, in its order, each with whether it is always there. */
    public static Map<String, Boolean> members(Payload payload) {
        Map<String, Object> least = written((Payload) sample(payload.getClass(), false));
        Map<String, Boolean> members = new LinkedHashMap<>();
        written(payload).keySet().forEach(name -> members.put(name, least.containsKey(name)));
        return members;
    }

    public static Map<String, Object> written(Payload payload) {
        Map<String, Object> written = new LinkedHashMap<>();
        payload.write((name, value) -> {
            if (written.put(name, value) != null) {
                throw new IllegalStateException(payload + " writes " + name + " twice");
            }
        });
        return written;
    }

    private static Stream<Class<?>> records(Class<?> type) {
        return type.isRecord() ? Stream.of(type)
                : Arrays.stream(type.getPermittedSubclasses())
                        .flatMap(Payloads::records);
    }

    private static Object sample(Class<?> type, boolean full) {
        try {
            RecordComponent[] components = type.getRecordComponents();
            Constructor<?> constructor = type.getDeclaredConstructor(
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
            constructor.setAccessible(true);
            return constructor.newInstance(Arrays.stream(components)
                    .map(each -> !full && each.getAnnotatedType().isAnnotationPresent(Nullable.class) ? null
                            : value(each.getType(), full))
                    .toArray());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object value(Class<?> type, boolean full) {
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        if (type == String.class) {
            return "text";
        } else if (type == int.class || type == Integer.class) {
            return 1;
        } else if (type == long.class || type == Long.class) {
            return 1L;
        } else if (type == double.class) {
            return 0.5;
        } else if (type == boolean.class) {
            return full;
        } else if (type == BigDecimal.class) {
            return BigDecimal.ONE;
        } else if (type == UUID.class) {
            return new UUID(1, 1);
        } else if (type == Instant.class) {
            return Instant.EPOCH;
        } else if (type == List.class) {
            return List.of();
        } else if (type == Map.class) {
            return Map.of();
        } else if (type == RetryDecision.class) {
            return DECISION;
        } else if (type == Tokens.class && !full) {
            return Tokens.NONE;
        }
        return sample(type, full);
    }
}

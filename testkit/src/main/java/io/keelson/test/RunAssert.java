package io.keelson.test;

import io.keelson.api.run.Artifact;
import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Checks of a run. Each throws an {@link AssertionError} with the state and the events of the run. */
public final class RunAssert {
    private static final int EVENTS = 500;

    private final Keelson client;
    private final Run run;

    RunAssert(Keelson client, Run run) {
        this.client = client;
        this.run = run;
    }

    /** The checked run. */
    public Run run() {
        return run;
    }

    /** The run has completed, and no part of it failed. */
    public RunAssert completed() {
        return check(run.completed() && run.failures() == 0, "has not completed without failures");
    }

    /** The run has failed, for the given reason. */
    public RunAssert failed(String code) {
        return check(run.state().equals("failed") && code.equals(run.errorCode()), "has not failed with " + code);
    }

    /** The run has this state. */
    public RunAssert state(String state) {
        return check(run.state().equals(state), "is not " + state);
    }

    /** The run has this output: any value that Jackson can write. */
    public RunAssert output(@Nullable Object output) {
        return check(run.output().equals(Json.of(output)), "has the output " + run.output() + ", not " + output);
    }

    /**
     * The run has cost this much, in all of its attempts.
     *
     * @param credits decimal text, such as {@code 0.25}
     */
    public RunAssert cost(String credits) {
        return check(run.totalCost().compareTo(new BigDecimal(credits)) == 0,
                "has cost " + run.totalCost().toPlainString() + ", not " + credits);
    }

    /** The run has cost at most this amount. */
    public RunAssert costAtMost(String credits) {
        return check(run.totalCost().compareTo(new BigDecimal(credits)) <= 0,
                "has cost " + run.totalCost().toPlainString() + ", more than " + credits);
    }

    /** The run has events of these types in this order; others may be between them. */
    public RunAssert events(String... types) {
        List<String> found = types();
        int at = 0;
        for (String type : found) {
            if (at < types.length && type.equals(types[at])) {
                at++;
            }
        }
        return check(at == types.length, at == types.length ? ""
                : "has no event " + types[at] + " after "
                        + List.of(types).subList(0, at));
    }

    /** The run has this number of events of a type. */
    public RunAssert events(String type, int number) {
        long found = types().stream().filter(type::equals).count();
        return check(found == number, "has " + found + " events " + type + ", not " + number);
    }

    /** The run has an artifact of this name with this content. */
    public RunAssert artifact(String name, String content) {
        Artifact found = client.runs().artifacts(run.id()).stream().filter(each -> each.name().equals(name)).findFirst()
                .orElse(null);
        check(found != null, "has no artifact " + name);
        try (InputStream bytes = client.runs().content(Objects.requireNonNull(found))) {
            String text = new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
            return check(text.equals(content), "has the artifact " + name + " with the content " + text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The types of all events, in order. */
    List<String> types() {
        List<String> types = new ArrayList<>();
        Page<Event> page;
        long after = 0;
        do {
            page = client.runs().events(run.id(), after, EVENTS);
            for (Event event : page.items()) {
                types.add(event.eventType());
                after = event.seq();
            }
        } while (page.nextCursor() != null);
        return types;
    }

    private RunAssert check(boolean holds, String problem) {
        if (!holds) {
            throw new AssertionError("run " + run.name() + " " + problem + "; it is " + run.state()
                    + (run.errorCode() == null ? "" : " " + run.errorCode() + ": " + run.errorMessage())
                    + ", with the events " + types());
        }
        return this;
    }
}

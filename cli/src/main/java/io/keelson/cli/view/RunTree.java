package io.keelson.cli.view;

import io.keelson.api.run.Run;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Child runs of a run and their child runs, down to the requested depth.
 *
 * @param members in the order in which they were started
 */
public record RunTree(List<Member> members) {

    /** Tree of a run without child runs, or whose child runs were not requested. */
    public static final RunTree NONE = new RunTree(List.of());

    /** One of them, with its own. */
    public record Member(Run run, RunTree started) {}

    public RunTree {
        members = List.copyOf(members);
    }

    /** The child runs of the step. */
    RunTree of(String stepId) {
        return new RunTree(members.stream().filter(member -> stepId.equals(starter(member))).toList());
    }

    /** The child runs of other steps than these, such as steps of earlier attempts. */
    RunTree without(Collection<String> stepIds) {
        return new RunTree(
                members.stream().filter(member -> !stepIds.contains(String.valueOf(starter(member)))).toList());
    }

    private static @Nullable String starter(Member member) {
        return member.run.parentStepId();
    }

    /** All of them, on all levels. */
    private Stream<Run> all() {
        return members.stream().flatMap(member -> Stream.concat(Stream.of(member.run), member.started.all()));
    }

    int size() {
        return Math.toIntExact(all().count());
    }

    /** The cost of all attempts of all runs, in credits. */
    BigDecimal cost() {
        return all().map(run -> Objects.requireNonNullElse(run.totalCost(), BigDecimal.ZERO)).reduce(BigDecimal.ZERO,
                BigDecimal::add);
    }
}

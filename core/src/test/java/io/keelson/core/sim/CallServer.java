package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Event;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Another server, whose tools ask people. It counts the calls that it receives, and the answers to its questions. */
final class CallServer {
    /** The calls of one of so many simulations are of another server, as far as they are of some steps. */
    private static final int SIMULATIONS = 7;
    private static final int STEPS = 4;

    private record Round(UUID step, int number) {}

    private final Set<Round> received = new HashSet<>();
    private final Set<Round> answered = new HashSet<>();

    /** Whether the tool of the step is one of another server. */
    static boolean has(Simulation sim, Held lease) {
        boolean tool = lease.spec().kind() == StepKind.TOOL || lease.spec().kind() == StepKind.CALL;
        return sim.seed % SIMULATIONS == 5 && tool && Math.floorMod(lease.stepId().hashCode(), STEPS) == 1;
    }

    /** Whether a call of the step must not be sent twice. */
    static boolean once(Held lease) {
        return lease.spec().kind() == StepKind.CALL && lease.spec().retry().maxAttempts() == 1
                || lease.stepId().hashCode() % 8 == 1;
    }

    /** The answers of a person to the questions of that round. */
    static String answers(int round) {
        return "{\"round\":" + round + "}";
    }

    /** A call arrives that must not arrive twice with the same answers. */
    void receive(UUID step, int rounds) {
        unless(received.add(new Round(step, rounds)), "call %s of round %s was sent twice", step, rounds);
    }

    /** It has refused the call, which may be sent again. */
    void refuse(UUID step, int rounds) {
        received.remove(new Round(step, rounds));
    }

    /** One answer to each question. */
    void check(List<Event> events) {
        events.stream().filter(event -> event.type() == EventType.STEP_ANSWERED).forEach(event -> unless(
                answered.add(new Round(event.stepId(), (Integer) event.members().get("round"))),
                "answered twice: %s", event));
    }
}

package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.decide.Hold;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.money.WorstCase;
import io.keelson.core.run.Command;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.Result;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;

/** A provider of models, which bills each request that it receives, and the details in which servers keep what they send. */
final class Provider {
    static final String MODEL = "model";

    private record Lease(UUID step, int epoch) {}

    /** @param cost in credits, by the price list */
    private record Bill(WorstCase most, BigDecimal cost) {}

    private final Map<Lease, Bill> bills = new HashMap<>();
    private final Set<Lease> closed = new HashSet<>();

    /** A server sends a request under a lease, unless the lease has ended or a reconciler has found it expired. */
    void send(RunRows rows, Held lease, WorstCase most, ModelPrice price) {
        Lease key = new Lease(lease.stepId(), lease.epoch());
        Saved.Step step = rows.steps.get(lease.stepId());
        Saved.Place place = rows.queue.get(lease.lane());
        Hold hold = place == null || step == null || step.leaseEpoch() != lease.epoch() ? null : place.item().hold();
        if (hold != null && hold.requested() && !closed.contains(key)
                && kept(lease.stepId(), lease.epoch()).isEmpty()) {
            WorstCase paid = new WorstCase(MODEL, most.maxInput(), Math.min(hold.maxOutput(), most.maxOutput()));
            bills.put(key, new Bill(paid, price.usd().atMost(paid.maxInput(), paid.maxOutput()).min(hold.amount())));
        }
    }

    /** What a server has kept of its requests under a lease, and of those before whose answers it can still fetch. */
    List<LostAnswer> kept(UUID step, int epoch) {
        boolean fetches = fetches(step);
        return IntStream.rangeClosed(fetches ? 1 : epoch, epoch)
                .mapToObj(each -> bills.get(new Lease(step, each))).filter(Objects::nonNull)
                .map(bill -> new LostAnswer(MODEL, "0".repeat(64), Instant.EPOCH,
                        new Tokens(bill.most.maxInput(), 0, 0, bill.most.maxOutput(), 0), fetches ? "id" : null))
                .toList();
    }

    /** Whether the provider keeps the answers of a step, until an execution fetches them. */
    private static boolean fetches(UUID step) {
        return step.hashCode() % 3 == 0;
    }

    /** The same, and no request is sent under the lease any more. */
    List<LostAnswer> taken(UUID step, int epoch) {
        closed.add(new Lease(step, epoch));
        return kept(step, epoch);
    }

    /** The report of a server as it is after its requests: with the tokens of the answer, or naming what it has not received. */
    Command honest(Command report) {
        return switch (report) {
            case Command.Complete(UUID run, UUID step, int epoch, Result result, var next, var lost, var who) when !kept(
                    step, epoch).isEmpty() ->
                new Command.Complete(run, step, epoch, billed(result, step, epoch), next, lost, who);
            case Command.Continue(UUID run, UUID step, int epoch, Result result, var who) when !kept(step, epoch)
                    .isEmpty() ->
                new Command.Continue(run, step, epoch, billed(result, step, epoch), who);
            case Command.Fail(UUID run, UUID step, int epoch, var error, var spent, var lost, var who) when !kept(step,
                    epoch).isEmpty() ->
                new Command.Fail(run, step, epoch, error, Result.of("null"), kept(step, epoch), who);
            case Command.Release(UUID run, UUID step, int epoch, var deferral, var call, var lost, var who) ->
                new Command.Release(run, step, epoch, deferral, call, kept(step, epoch), who);
            default -> report;
        };
    }

    private Result billed(Result result, UUID step, int epoch) {
        return new Result(result.output(), Objects.requireNonNull(kept(step, epoch).getFirst().tokens()), null, MODEL,
                result.artifacts(), result.proposals(), result.verdict(), result.turn());
    }

    /** What a run is charged and holds for a step is at least what was billed for it. */
    void check(RunRows rows) {
        Map<UUID, BigDecimal> billed = new HashMap<>();
        bills.forEach((lease, bill) -> {
            if (rows.steps.containsKey(lease.step)) {
                billed.merge(lease.step, bill.cost, BigDecimal::add);
            }
        });
        billed.forEach((id, cost) -> {
            Saved.Step step = rows.steps.get(id);
            Saved.Place place = rows.queue.get(rows.laneOf(step));
            BigDecimal held = place == null || place.item().hold() == null || !place.item().hold().requested()
                    || rows.steps.get(id).state().terminal() ? BigDecimal.ZERO : place.item().hold().amount();
            BigDecimal kept = step.kept() == null ? BigDecimal.ZERO : step.kept().amount();
            BigDecimal charged = rows.ledger.stream()
                    .filter(row -> row.kind() == Kind.CHARGE && id.equals(row.stepId())).map(row -> row.use().cost())
                    .reduce(BigDecimal.ZERO, BigDecimal::add);
            BigDecimal uncollected = rows.attempts.values().stream()
                    .map(attempt -> attempt.credits().uncollected()).reduce(rows.run.uncollected(), BigDecimal::add);
            unless(charged.add(held).add(kept).add(uncollected).compareTo(cost) >= 0,
                    "%s was billed for %s, and %s is charged, %s held, %s kept, %s uncollected", cost, id, charged,
                    held, kept, uncollected);
        });
    }
}

package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.decide.ChangeSet.Attempt;
import io.keelson.core.decide.ChildRow;
import io.keelson.core.decide.TaskBudgetRow;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Prices;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.run.Event;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Laws of one run's credits: by its ledger rows, its attempts' accounts and its events.
 * {@code Bank} checks the balances of workspaces.
 */
final class MoneyLaws {
    private final RunRows before;
    private final RunRows after;
    private final Prices prices;

    /** @param before null for a run that the commit makes */
    MoneyLaws(RunRows before, RunRows after, Prices prices) {
        this.before = before;
        this.after = after;
        this.prices = prices;
    }

    void check(List<Event> events) {
        unless(after.head.charged().signum() >= 0 && after.head.charged().compareTo(after.head.reserved()) <= 0,
                "reserved >= charged: %s", after.head);
        BigDecimal limit = limit(after);
        unless(limit == null || total(after.run.chargedBefore(), after.head.reserved()).compareTo(limit) <= 0,
                "more is reserved than the limit %s allows: %s %s", limit, after.run, after.head);
        unless(limit == null || after.children.values().stream().allMatch(each -> each.ended()
                || each.allotment() != null), "the limit %s does not bind a child: %s", limit, after.children);
        BigDecimal kin = after.children.values().stream()
                .map(Evaluations::cost)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
        unless(limit == null || kin.signum() == 0
                || total(after.run.chargedBefore(), after.head.charged(), after.head.remainder(), kin)
                        .compareTo(limit) <= 0,
                "the limit %s is crossed with what was given to children: %s %s", limit, after.run, after.children);
        after.attempts.values().forEach(this::attempt);
        reservation();
        costs();
        after.ledger.forEach(this::key);
        after.ledger.stream().filter(t -> t.kind() == Kind.CHARGE).forEach(this::priced);
        dispatch(events);
        goesOn(events);
        queued();
        budgets();
        warning(events);
        events.stream().filter(event -> event.type() == EventType.RUN_BUDGET_THRESHOLD).forEach(this::threshold);
        holds();
        unless(!after.run.failing() || before != null && before.run.failing()
                || after.tasksNow().stream()
                        .allMatch(task -> WorkLaws.followsAFailure(after, task) || paid(before, task)
                                || paid(after, task)),
                "fail_fast left unpaid work open: %s",
                after.tasksNow().stream().map(task -> task.key() + " " + task.state()).toList());
    }

    /** Whether a task has cost something, or is at work on a step that may. */
    private boolean paid(@Nullable RunRows rows, Saved.Task task) {
        return rows != null && rows.stepsOf(task.id()).anyMatch(step -> step.cost().signum() > 0
                || rows.requests.values().stream().anyMatch(each -> each.stepId().equals(step.id()))
                || rows.queue.containsKey(rows.laneOf(step))
                        && rows.queue.get(rows.laneOf(step)).item().holder() != null
                        && (known(step).signum() > 0 || rows.queue.get(rows.laneOf(step)).item().hold() != null));
    }

    /** Charges and holds are reserved, those for answers that are still to be fetched included. */
    private void holds() {
        BigDecimal held = Stream.concat(after.queue.values().stream()
                .filter(place -> place.item().holder() != null && place.item().hold() != null).map(this::held),
                Stream.concat(after.requests.values().stream().map(each -> each.open().held()),
                        after.steps.values().stream().filter(step -> step.kept() != null)
                                .map(step -> step.kept().amount())))
                .reduce(BigDecimal.ZERO, BigDecimal::add);
        unless(held.signum() == 0 || total(after.head.charged(), after.head.remainder(), held)
                .compareTo(after.head.reserved()) <= 0, "%s held: %s", held, after.head);
    }

    /** A hold beside its part that heartbeats have charged. */
    private BigDecimal held(Saved.Place place) {
        BigDecimal charged = after.stepsOf(place.item().key().taskId())
                .filter(step -> after.laneOf(step).equals(place.item().key()) && !step.state().terminal()
                        && step.metered() != null && step.metered().epoch() == step.leaseEpoch())
                .map(step -> step.metered().reportedCost()).reduce(BigDecimal.ZERO, BigDecimal::add);
        return place.item().hold().amount().subtract(charged).max(BigDecimal.ZERO);
    }

    /** A part of a limit is named when charges reach it. */
    private void threshold(Event event) {
        BigDecimal limit = new BigDecimal(String.valueOf(event.members().get("hard_limit")));
        BigDecimal at = limit.multiply(new BigDecimal(String.valueOf(event.members().get("percent")))).movePointLeft(2)
                .setScale(6, RoundingMode.HALF_UP);
        unless(used(before).compareTo(at) < 0 && used(after).compareTo(at) >= 0, "%s: %s %s", event, used(before),
                used(after));
    }

    private static BigDecimal used(RunRows rows) {
        return rows == null ? BigDecimal.ZERO
                : rows.children.values().stream().map(ChildRow::charged)
                        .reduce(total(rows.run.chargedBefore(), rows.head.charged()), BigDecimal::add);
    }

    private static @Nullable BigDecimal limit(RunRows rows) {
        return rows.run.hardLimit() != null ? rows.run.hardLimit() : rows.accepted.policy().budget().hardLimit();
    }

    private static BigDecimal total(BigDecimal... parts) {
        return List.of(parts).stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private BigDecimal booked(Predicate<Transfer> which) {
        return after.ledger.stream().filter(which).map(Transfer::amount).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    /** What was collected of the costs, before their sum was rounded. */
    private BigDecimal cost(Predicate<Transfer> which) {
        return after.ledger.stream().filter(t -> t.kind() == Kind.CHARGE && which.test(t)).map(t -> t.use().cost())
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private BigDecimal booked(int attempt, Kind kind) {
        return booked(t -> t.attempt() == attempt && t.kind() == kind);
    }

    /** An attempt's account is what the ledger says of it, and a settled one comes out even. */
    private void attempt(Attempt attempt) {
        var account = attempt.credits();
        if (account.settledAt() == null) {
            return;
        }
        unless(total(account.charged(), account.refunded()).compareTo(account.reserved()) == 0,
                "charged + refunded = reserved: %s", attempt);
        unless(booked(attempt.number(), Kind.RESERVE).compareTo(account.reserved()) == 0
                && booked(attempt.number(), Kind.CHARGE).compareTo(account.charged()) == 0
                && booked(attempt.number(), Kind.REFUND).compareTo(account.refunded()) == 0,
                "the ledger says otherwise: %s %s", attempt, after.ledger);
    }

    /** Credits are reserved while an attempt is open, and at no other time (I5). */
    private void reservation() {
        RunState state = after.run.state();
        int attempt = after.run.attempt();
        boolean open = !state.terminal() && state != RunState.CREATED && state != RunState.RETRYING;
        unless(open || after.head.reserved().signum() == 0, "I5: %s, and credits are reserved: %s", state, after.head);
        BigDecimal limit = limit(after);
        unless(!open || after.head.reserved().signum() > 0 || limit != null, "nothing is reserved: %s", state);
        unless(!open || booked(attempt, Kind.RESERVE).compareTo(after.head.reserved()) == 0
                && booked(attempt, Kind.CHARGE).compareTo(after.head.charged()) == 0,
                "the ledger says otherwise: %s %s",
                after.head, after.ledger);
        unless(!open || total(after.head.charged(), after.head.remainder()).compareTo(after.head.reserved()) <= 0,
                "used beyond what is reserved: %s", after.head);
        unless(state != RunState.RUNNING || after.run.uncollected().signum() == 0 || limit != null
                || after.head.reserved().compareTo(after.head.charged()) >= 0, "continues without credits: %s",
                after.head);
    }

    /**
     * The cost of a report is charged, or recorded as uncollected, in the attempt that caused it. Costs are added exactly, and
     * their sum is rounded once: each charge is what the rounded sum grows by.
     */
    private void costs() {
        BigDecimal uncollected = after.attempts.values().stream()
                .filter(attempt -> attempt.number() < after.run.attempt())
                .map(attempt -> attempt.credits().uncollected()).reduce(after.run.uncollected(), BigDecimal::add);
        BigDecimal charged = booked(t -> t.kind() == Kind.CHARGE);
        BigDecimal collected = BigDecimal.ZERO;
        for (Transfer charge : after.ledger.stream().filter(t -> t.kind() == Kind.CHARGE).toList()) {
            BigDecimal sum = collected.add(charge.use().cost());
            unless(charge.use().cost().signum() > 0 && charge.amount()
                    .compareTo(millionths(sum).subtract(millionths(collected))) == 0,
                    "%s before it, and it is charged otherwise: %s", collected, charge);
            collected = sum;
        }
        unless(total(collected, uncollected).compareTo(after.head.cost()) == 0,
                "cost %s, collected %s, uncollected %s", after.head.cost(), collected, uncollected);
        unless(collected.subtract(charged).compareTo(after.head.remainder()) == 0,
                "collected %s, charged %s, and the remainder is %s", collected, charged, after.head.remainder());
        unless(total(after.run.chargedBefore(), after.head.charged()).compareTo(charged) == 0,
                "counts %s and %s charged, the ledger says %s", after.run.chargedBefore(), after.head.charged(),
                charged);
        boolean all = collected.compareTo(after.head.cost()) == 0;
        for (Saved.Step step : after.steps.values()) {
            int more = cost(t -> step.id().equals(t.stepId())).compareTo(step.cost());
            unless(all ? more == 0 : more <= 0, "not charged what it cost: %s", step);
            metered(step);
        }
    }

    /** Parts of a use that all have the price of their tokens are together not more than the price of all tokens. */
    private void metered(Saved.Step step) {
        List<Transfer> charges = after.ledger.stream()
                .filter(t -> t.kind() == Kind.CHARGE && step.id().equals(t.stepId())).toList();
        if (step.metered() != null && charges.stream().allMatch(charge -> price(charge) != null)) {
            BigDecimal most = charges.stream().map(charge -> exact(price(charge), charge.use().tokens()))
                    .reduce(BigDecimal.ZERO, BigDecimal::add);
            BigDecimal sum = cost(t -> step.id().equals(t.stepId()));
            unless(sum.compareTo(most) <= 0,
                    "charged %s, the tokens cost %s: %s", sum, most, charges);
        }
    }

    /** By which a charge is made; null for the cost of a report. */
    private @Nullable TokenPrices price(Transfer charge) {
        Prices.ModelPrice price = charge.use().model() == null ? null : prices.models().get(charge.use().model());
        return price == null || !Integer.valueOf(price.version()).equals(charge.use().priceVersion()) ? null
                : price.usd();
    }

    private static BigDecimal exact(TokenPrices price, Tokens used) {
        BigDecimal input = price.input();
        BigDecimal write = price.cacheWrite() == null ? input : price.cacheWrite();
        BigDecimal read = price.cacheRead() == null ? input : price.cacheRead();
        return input.multiply(new BigDecimal(used.input())).add(read.multiply(new BigDecimal(used.cacheRead())))
                .add(write.multiply(new BigDecimal(used.cacheWrite())))
                .add(price.output().multiply(new BigDecimal(used.output()))).movePointLeft(6);
    }

    private static BigDecimal millionths(BigDecimal cost) {
        return cost.setScale(6, RoundingMode.HALF_UP);
    }

    /** A cost by a model's price is the sum of its parts. */
    private void priced(Transfer charge) {
        TokenPrices price = price(charge);
        if (price == null || after.steps.get(charge.stepId()).metered() != null) {
            return;
        }
        BigDecimal cost = exact(price, charge.use().tokens());
        unless(charge.use().cost().compareTo(cost) <= 0, "charged %s, the tokens cost %s", charge, cost);
        unless(charge.use().cost().compareTo(cost) == 0 || after.head.cost().compareTo(cost(t -> true)) > 0,
                "charged %s of %s, and nothing is uncollected", charge, cost);
    }

    /** What is the same has the same key, so that a ledger which takes a key once books nothing twice. */
    private void key(Transfer transfer) {
        String attempt = after.id() + "/" + transfer.attempt() + "/";
        switch (transfer.kind()) {
            case RESERVE -> unless(transfer.key().equals(attempt + "reserve")
                    || transfer.key().matches(attempt + "extend/\\d+"), "key: %s", transfer);
            case REFUND -> unless(transfer.key().equals(attempt + "settle"), "key: %s", transfer);
            case CHARGE -> {
                Saved.Step step = after.steps.get(transfer.stepId());
                String of = transfer.key().substring(step.id().toString().length());
                unless(transfer.key().startsWith(step.id() + "/") && step.ofAttempt() == transfer.attempt()
                        && IntStream.rangeClosed(1, step.attempt()).anyMatch(each -> of.equals("/" + each)
                                || of.matches("/" + each + "/((lost|unfetched)/\\d+|used/\\d+/[0-9a-f-]+)")),
                        "key: %s of %s", transfer, step);
            }
        }
    }

    /** At the limit nothing more begins, and a cost that could not be collected stops the run at once. */
    private void dispatch(List<Event> events) {
        BigDecimal limit = before == null ? after.accepted.policy().budget().hardLimit() : limit(before);
        BigDecimal charged =
                before == null ? BigDecimal.ZERO
                        : total(before.run.chargedBefore(), before.head.charged(), before.head.remainder());
        Map<String, TaskBudgetRow> budgets = new HashMap<>(before == null ? Map.of() : before.budgets);
        after.budgets.forEach((task, budget) -> budgets.putIfAbsent(task, before == null
                ? new TaskBudgetRow(task, budget.limit(), BigDecimal.ZERO, false)
                : budget));
        String state = before == null ? "created" : before.run.state().wire();
        for (Event event : events) {
            Object changed = event.members().get("hard_limit");
            if (event.type() == EventType.RUN_BUDGET_CHANGED) {
                budgets.replaceAll((task, budget) -> raised(budget, event.members().get("tasks")));
            }
            if (event.type() == EventType.RUN_BUDGET_CHANGED && changed != null) {
                limit = new BigDecimal((String) changed);
            } else if (event.stepId() == null && event.taskId() == null && event.agentId() == null
                    && event.to() != null) {
                state = event.to();
            } else if (event.stepId() != null && (event.to() != null || event.type() == EventType.STEP_CHARGED)) {
                BigDecimal cost = collected(event);
                charged = total(charged, cost);
                unless(!event.members().containsKey("uncollected") || !state.equals("running"),
                        "not collected, and the run continues: %s", event);
                Saved.Step step = after.steps.get(event.stepId());
                boolean begins = "running".equals(event.to());
                if (state.equals("planning")) {
                    continue;
                }
                TaskBudgetRow budget =
                        budgets.computeIfPresent(task(step), (task, of) -> new TaskBudgetRow(task, of.limit(),
                                total(of.charged(), cost), of.exceeded()));
                unless(!begins || budget == null || budget.charged().signum() == 0
                        || budget.charged().compareTo(budget.limit()) < 0, "begun at %s: %s", budget, event);
                unless(!begins || event.from().equals("running") || budget == null || known(step).signum() == 0
                        || total(budget.charged(), known(step)).compareTo(budget.limit()) <= 0,
                        "begun though it is too dear for %s: %s", budget, event);
                unless(!begins || limit == null || charged.signum() == 0 || charged.compareTo(limit) < 0,
                        "begun at the limit %s: %s", limit, event);
                unless(!begins || event.from().equals("running") || limit == null || known(step).signum() == 0
                        || total(charged, known(step)).compareTo(limit) <= 0, "begun though it is too dear: %s", event);
            }
        }
    }

    /** What an event's charge has collected of its cost, before the rounding. */
    private static BigDecimal collected(Event event) {
        return !event.members().containsKey("charged") ? BigDecimal.ZERO
                : new BigDecimal((String) event.members().get("cost"))
                        .subtract(new BigDecimal((String) event.members().getOrDefault("uncollected", "0")));
    }

    private static TaskBudgetRow raised(TaskBudgetRow budget, @Nullable Object budgets) {
        Object most = budgets instanceof Map<?, ?> map ? map.get(budget.task()) : null;
        return most == null ? budget
                : new TaskBudgetRow(budget.task(), new BigDecimal((String) most), budget.charged(), budget.exceeded());
    }

    /** A run that could not pay a step continues only with reserved credits. */
    private void goesOn(List<Event> events) {
        boolean resumed = before != null && events.stream().anyMatch(event -> event.type() == EventType.RUN_RESUMED)
                && before.head.charged().compareTo(after.head.charged()) == 0;
        unless(!resumed || after.run.state() != RunState.RUNNING || after.run.uncollected().signum() == 0
                || after.head.reserved().compareTo(total(after.head.charged(), after.head.remainder())) > 0,
                "continues with nothing: %s", after.head);
    }

    /** A task's account is what the ledger says of its steps, in all attempts. */
    private void budgets() {
        after.budgets.values().forEach(budget -> unless(
                cost(t -> task(after.steps.get(t.stepId())).equals(budget.task()))
                        .compareTo(budget.charged()) == 0,
                "the ledger says otherwise: %s %s", budget, after.ledger));
    }

    /** Its task in the plan. */
    private String task(Saved.Step step) {
        return after.tasks.get(step.taskId()).spec().id();
    }

    private BigDecimal known(Saved.Step step) {
        return prices.toolPrice(step.spec().tool());
    }

    /** What waits to be claimed fits under the limit, together with what is out. */
    private void queued() {
        BigDecimal limit = limit(after);
        if (limit == null || after.run.state() == RunState.PLANNING
                || after.queue.values().stream().allMatch(place -> place.item().holder() != null)) {
            return;
        }
        BigDecimal charged = total(after.run.chargedBefore(), after.head.charged(), after.head.remainder());
        BigDecimal out = after.queue.keySet().stream().flatMap(lane -> after.stepsOf(lane.taskId())
                .filter(step -> after.laneOf(step).equals(lane) && !step.state().terminal()
                        && (step.state() == StepState.RUNNING || after.laneOf(step).lane() > 0 || first(step))))
                .map(this::known).reduce(BigDecimal.ZERO, BigDecimal::add);
        unless(charged.signum() == 0 && out.signum() == 0 || total(charged, out).compareTo(limit) <= 0,
                "%s charged and %s queued exceed %s", charged, out, limit);
    }

    /** The first open step of its lane. */
    private boolean first(Saved.Step step) {
        return after.stepsOf(step.taskId()).filter(other -> !other.state().terminal())
                .noneMatch(other -> other.position() < step.position()
                        || other.position() == step.position() && other.turn() < step.turn());
    }

    private void warning(List<Event> events) {
        long warnings = events.stream().filter(event -> event.type() == EventType.RUN_BUDGET_WARNING).count();
        unless(warnings == (after.run.budgetWarned() ? 1 : 0) - (before != null && before.run.budgetWarned() ? 1 : 0),
                "%s warnings, %s", warnings, after.run);
        BigDecimal soft = after.run.softLimit() != null ? after.run.softLimit()
                : after.accepted.policy().budget().softLimit();
        boolean changed = events.stream().anyMatch(event -> event.type() == EventType.RUN_BUDGET_CHANGED);
        boolean chargedNow = before != null && events.stream().anyMatch(event -> event.members().containsKey("charged")
                && event.stepId() != null);
        unless(soft == null || changed || !chargedNow || after.run.budgetWarned()
                || total(after.run.chargedBefore(), after.head.charged()).compareTo(soft) < 0, "no budget warning: %s",
                after.run);
    }
}

package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChildRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.money.Bank;
import io.keelson.core.money.Prices;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.plan.Plan;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A whole installation on one thread under virtual time: nodes, remote workers and people around one store, and all that
 * may go wrong between them. Everything that happens follows from the seed.
 */
public final class Simulation {
    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration TICK = Duration.ofSeconds(1);
    static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    /** Once nothing goes wrong any more: poison takes some leases, a retry some backoffs. */
    private static final int TICKS_TO_END = 1_500;

    private record Due(Instant at, long order, Runnable action) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            int byTime = at.compareTo(other.at);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private record Grant(UUID step, int epoch) {}

    private record Answered(Command command, Reply reply) {}

    final long seed;
    final Random random;
    final FaultRates faultRates;
    final Bank bank = new Bank();
    final Store store;
    final Prices prices;
    final Coverage coverage = new Coverage();
    final BatchListener batchListener;
    final List<Node> nodes = new ArrayList<>();
    private final Size size;
    private final long space;
    private final Trace trace = new Trace(START);
    private final PriorityQueue<Due> agenda = new PriorityQueue<>();
    private final Map<Grant, String> grants = new HashMap<>();
    private final List<Answered> answered = new ArrayList<>();
    private Instant now = START;
    private long order;
    private long ids;

    Simulation(long seed) {
        this(seed, Size.FULL, 0, BatchListener.NONE);
    }

    /** @param space another one for simulations whose rows are to stand in one database */
    public Simulation(long seed, Size size, long space, BatchListener batchListener) {
        this.seed = seed;
        this.size = size;
        this.space = 2 * space;
        this.batchListener = batchListener;
        this.random = new Random(seed);
        this.faultRates = new FaultRates(random);
        this.prices = random.nextBoolean() ? Prices.NONE
                : new Prices(Map.of("remote", new Prices.Price(amount(tiny() ? 27 : 30, 3), 1)),
                        Map.of("model", new Prices.ModelPrice(new TokenPrices(amount(405, 1),
                                amount(405, 2), null, amount(tiny() ? 300_120 : 300_125, 3)), 2)));
        this.store = new Store(bank, prices);
        grant(0, "1000000.000000");
        grant(1, 1 + random.nextInt(6) + ".000000");
    }

    /** A rich one and a poor one. */
    private UUID workspace(int number) {
        return new UUID(9 + space, number);
    }

    private void grant(int number, String amount) {
        bank.grant(workspace(number), new BigDecimal(amount));
        batchListener.granted(workspace(number), new BigDecimal(amount));
    }

    /** Whether costs and limits are ten thousand times smaller, so that many costs are no multiples of what can be charged. */
    private boolean tiny() {
        return seed % 10 == 9;
    }

    /** @param places of decimals where amounts are not tiny */
    BigDecimal amount(long digits, int places) {
        return BigDecimal.valueOf(digits, tiny() ? places + 4 : places);
    }

    /** Those in force throughout. */
    public Prices prices() {
        return prices;
    }

    /**
     * Runs it to the end.
     *
     * @throws Violation with the seed and the last lines of the trace
     */
    public Simulation run() {
        try {
            for (int i = 1 + random.nextInt(3); i >= 0; i--) {
                nodes.add(new Node(this, nodes.size() + 1));
            }
            for (int i = 1 + random.nextInt(2); i >= 0; i--) {
                new RemoteWorker(this, "w" + i).start();
            }
            Humans humans = new Humans(this, submitted(), size.disturbed().dividedBy(3).multipliedBy(2));
            humans.start();
            Forks.mayHappen(this);
            Duration night = TotalOutage.mayFall(this, size.disturbed());
            until(START.plus(size.disturbed()).plus(night), false);
            faultRates.clear();
            grant(1, "1000000.000000");
            nodes.forEach(Node::recover);
            Instant limit = now.plus(TICK.multipliedBy(TICKS_TO_END));
            until(limit, true);
            Violation.unless(allEnded(), "liveness: not ended after %s calm ticks: %s", TICKS_TO_END,
                    store.runs().stream().filter(rows -> !rows.run.state().terminal()).map(Simulation::open).toList());
            store.runs().forEach(this::kin);
            answered.forEach(a -> ReplyDurability.keep(a.command, a.reply, store.run(a.command.runId())));
            return this;
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            throw new SimulationFailure(this, e);
        }
    }

    /** A child that ended is known to have, with what it cost, and none has continued without its parent's leave. */
    private void kin(RunRows rows) {
        rows.children.forEach((step, known) -> {
            RunRows child = store.run(known.runId());
            Violation.unless(child != null && child.parent.stepId().equals(step), "no such child: %s", known);
        });
        Undos.check(store, rows);
        if (rows.parent != null) {
            ChildRow known = store.run(rows.parent.runId()).children.get(rows.parent.stepId());
            Violation.unless(known.runId().equals(rows.id()), "its parent knows nothing of it: %s", rows.run);
            Violation.unless(known.allotment() == null || rows.parent.allotment().compareTo(known.allotment()) <= 0,
                    "it counts on more than its parent gave it: %s %s", rows.parent, known);
        }
    }

    private static String open(RunRows rows) {
        return rows.run + " " + rows.tasksNow().stream().filter(task -> !task.state().terminal())
                .map(task -> task.key() + " " + task.state()).toList() + " " + rows.queue.values() + rows.timers;
    }

    private List<NewRun> submitted() {
        RandomPlans plans = new RandomPlans(random, tiny() ? 6 : 2, Executor.chains(seed),
                RandomPlans.repeats(seed), RandomPlans.undoes(seed), RandomPlans.reuses(seed),
                RandomPlans.repeatsGroups(seed));
        if (RandomPlans.undoesChildren(seed)) {
            plans.undoingChildren();
        }
        List<NewRun> runs = new ArrayList<>();
        for (int i = size.fewest() + random.nextInt(size.more() + 1); i > 0; i--) {
            NewRun run = plans.run(runId(i + 1), workspace(random.nextInt(2)));
            runs.add(RandomPlans.votes(seed) ? run.approvedBy(2, false) : run);
        }
        return runs;
    }

    private void until(Instant end, boolean orAllEnded) {
        while (!agenda.isEmpty() && !agenda.peek().at.isAfter(end) && !(orAllEnded && allEnded())) {
            Due due = agenda.poll();
            now = due.at;
            due.action.run();
        }
    }

    private boolean allEnded() {
        return store.runs().stream().allMatch(rows -> rows.run.state().terminal() && Undos.known(store, rows));
    }

    Instant now() {
        return now;
    }

    void in(Duration delay, Runnable action) {
        at(now.plus(delay), action);
    }

    void at(Instant time, Runnable action) {
        agenda.add(new Due(time, order++, action));
    }

    Duration between(int least, int most) {
        return Duration.ofMillis(least + random.nextInt(most - least));
    }

    boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    UUID runId(int number) {
        return new UUID(space, number);
    }

    /** A node begins. */
    void arrived(Duration silence) {
        if (store.arrived(silence, now)) {
            coverage.happened("Outage");
            batchListener.outage(store.outages.getLast());
        }
    }

    UUID nextId() {
        return new UUID(space + 1, ++ids);
    }

    void extend(UUID run, Lane lane) {
        batchListener.extended(store.extend(run, lane, now), lane, now);
    }

    void tell(String who, Object... what) {
        trace.add(now, who, what);
    }

    /** Carries a message that may be lost, come late, out of order, or twice. */
    void carry(Consumer<Set<Fault>> arrival) {
        if (faultRates.drops()) {
            return;
        }
        Set<Fault> met = EnumSet.noneOf(Fault.class);
        int copies = 1;
        if (faultRates.strikes(Fault.MESSAGE_DUPLICATED)) {
            met.add(Fault.MESSAGE_DUPLICATED);
            copies = 2;
        }
        for (int i = 0; i < copies; i++) {
            boolean late = faultRates.strikes(Fault.MESSAGE_DELAYED);
            Set<Fault> own = EnumSet.copyOf(met);
            if (late) {
                own.add(Fault.MESSAGE_DELAYED);
            }
            in(late ? between(500, chance(30) ? 90_000 : 5_000) : between(0, 20), () -> arrival.accept(own));
        }
    }

    /** Sends a command to a node, and its answer back the same way. */
    void send(Node node, Command command, Consumer<Reply> answer) {
        carry(met -> node.receive(command, met, reply -> carry(back -> {
            ReplyDurability.keep(command, reply, store.run(command.runId()));
            answered.add(new Answered(command, reply));
            answer.accept(reply);
        })));
    }

    Node anyNode() {
        return nodes.get(random.nextInt(nodes.size()));
    }

    /** A lease is given to one holder and never to another. */
    void granted(UUID step, int epoch, String holder) {
        String other = grants.putIfAbsent(new Grant(step, epoch), holder);
        Violation.unless(other == null || other.equals(holder), "lease %s of %s held by %s and %s", epoch, step, other,
                holder);
    }

    /** All runs that there are at this moment. */
    public Set<UUID> runs() {
        return store.runs().stream().map(RunRows::id).collect(Collectors.toCollection(TreeSet::new));
    }

    /** A view built from a run's rows as they are now. */
    public RunView view(UUID run) {
        return store.load(run, now);
    }

    /** All rows of a run as they are now, by table. */
    public Map<String, List<Map<String, Object>>> rows(UUID run) {
        return new Columns(store.run(run)).tables();
    }

    /** The plan that was stored as this text. */
    public Plan plan(String json) {
        return store.runs().stream().map(rows -> rows.accepted).filter(run -> run.planJson().equals(json))
                .map(NewRun::plan).findFirst().orElseGet(() -> RandomPlans.read(json));
    }

    long hash() {
        return trace.hash();
    }

    String tail() {
        return trace.tail();
    }
}

package io.keelson.core.sim;

import io.keelson.core.sim.SmallWorld.Move;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** All states that can be reached from the first ones, breadth first, so that the way to a broken law is a shortest one. */
final class Exploration {
    private record Step(int from, String label) {}

    private final Map<String, Integer> numbers = new HashMap<>();
    /** How each state was first reached. */
    private final List<Step> ways = new ArrayList<>();
    private final List<List<Integer>> before = new ArrayList<>();
    private final BitSet ended = new BitSet();
    private long moves;

    /** @throws Violation with the way that leads there */
    Exploration from(List<SmallWorld> firsts) {
        Deque<SmallWorld> todo = new ArrayDeque<>();
        firsts.forEach(first -> number(first, new Step(-1, "start " + numbers.size()), todo));
        for (int at = 0; !todo.isEmpty(); at++) {
            SmallWorld world = todo.poll();
            try {
                for (Move move : world.moves()) {
                    before.get(number(move.to(), new Step(at, move.label()), todo)).add(at);
                    moves++;
                }
            } catch (RuntimeException e) {
                throw new Violation("after " + way(at) + ": " + e);
            }
        }
        return this;
    }

    private int number(SmallWorld world, Step way, Deque<SmallWorld> todo) {
        String key = world.key();
        Integer known = numbers.get(key);
        if (known != null) {
            return known;
        }
        int number = numbers.size();
        numbers.put(key, number);
        ways.add(way);
        before.add(new ArrayList<>(2));
        ended.set(number, world.ended());
        todo.add(world);
        return number;
    }

    int states() {
        return ways.size();
    }

    long moves() {
        return moves;
    }

    int ends() {
        return ended.cardinality();
    }

    /** The way to a state from which no end can be reached; null when there is none. */
    String hopeless() {
        BitSet hopeful = (BitSet) ended.clone();
        Deque<Integer> todo = new ArrayDeque<>();
        ended.stream().forEach(todo::add);
        while (!todo.isEmpty()) {
            for (int earlier : before.get(todo.poll())) {
                if (!hopeful.get(earlier)) {
                    hopeful.set(earlier);
                    todo.add(earlier);
                }
            }
        }
        int lost = hopeful.nextClearBit(0);
        return lost >= states() ? null : way(lost);
    }

    private String way(int state) {
        Deque<String> labels = new ArrayDeque<>();
        for (int at = state; at > 0; at = ways.get(at).from) {
            labels.push(ways.get(at).label);
        }
        return labels.toString();
    }
}

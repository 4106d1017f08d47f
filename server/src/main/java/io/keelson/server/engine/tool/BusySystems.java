package io.keelson.server.engine.tool;

import io.keelson.server.engine.tool.HandBackException.Busy;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Systems that have asked this node to send nothing before a time, or are out of order. While a system is busy, no call passes.
 * After the time one call passes as a probe; when it ends, all may pass, or the system is busy again. In memory: each node learns
 * by itself.
 */
public final class BusySystems {
    private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
    private static final Duration LONGEST_DELAY = Duration.ofMinutes(1);
    /** Longest time without a probe, even if the system asks for more. */
    private static final Duration LONGEST_SILENCE = Duration.ofMinutes(5);
    /** How long a call waits for the probe before its step goes back to the queue. */
    private static final Duration PROBE_WAIT = Duration.ofSeconds(5);
    private static final int MAX_DOUBLINGS = 6;

    private static final class Pause {
        private long openAt;
        private int times;
        private boolean probing;
        private boolean outOfOrder;

        private Pause(long openAt) {
            this.openAt = openAt;
        }
    }

    private final LongSupplier nanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition probed = lock.newCondition();
    private final Map<String, Pause> pauses = new HashMap<>();

    /** @param nanos a monotonic clock, in nanoseconds */
    public BusySystems(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /**
     * Passes a call, or waits for at most 5 seconds while a probe is under way.
     *
     * @param system such as {@code model:NAME}
     * @param code see {@link Busy#code}
     * @return to be closed at the end of the call
     * @throws HandBackException while the system is busy
     */
    public Pass enter(String system, String code) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long waitNanos = PROBE_WAIT.toNanos();
            while (true) {
                Pause pause = pauses.get(system);
                if (pause == null) {
                    return new Pass(system, code, false);
                }
                long closed = pause.openAt - nanos.getAsLong();
                if (closed > 0) {
                    throw busy(system, code, Duration.ofNanos(closed));
                }
                if (!pause.probing) {
                    pause.probing = true;
                    return new Pass(system, code, true);
                }
                if (waitNanos <= 0) {
                    throw busy(system, code, PROBE_WAIT);
                }
                waitNanos = probed.awaitNanos(waitNanos);
            }
        } finally {
            lock.unlock();
        }
    }

    private static HandBackException busy(String system, String code, Duration delay) {
        return new HandBackException(new Busy(system, code, delay), system + " is busy");
    }

    /** How long no call passes; zero for a system that is not busy. */
    public Duration closed(String system) {
        lock.lock();
        try {
            Pause pause = pauses.get(system);
            return pause == null ? Duration.ZERO : Duration.ofNanos(Math.max(0, pause.openAt - nanos.getAsLong()));
        } finally {
            lock.unlock();
        }
    }

    /** True while no call passes since the system is out of order, as a probe has confirmed. */
    public boolean down(String system) {
        lock.lock();
        try {
            Pause pause = pauses.get(system);
            return pause != null && pause.outOfOrder && pause.times > 0 && pause.openAt - nanos.getAsLong() > 0;
        } finally {
            lock.unlock();
        }
    }

    /** One call to a system. */
    public final class Pass implements AutoCloseable {
        private final String system;
        private final String code;
        private final boolean probe;
        private boolean ended;

        private Pass(String system, String code, boolean probe) {
            this.system = system;
            this.code = code;
            this.probe = probe;
        }

        /**
         * The system is busy: further calls do not pass before its time.
         *
         * @param retryAfter the time that it has asked for; null when it has not. Never less than a second, doubled with each
         *                   probe in a row up to a minute; never more than five minutes
         * @return to be thrown, so that the step goes back to the queue
         */
        public HandBackException busy(@Nullable Duration retryAfter, String message) {
            return closed(retryAfter, message, false);
        }

        /**
         * The system is out of order: further calls do not pass for a while.
         *
         * @return to be thrown, so that the step goes back to the queue
         */
        public HandBackException outOfOrder(String message) {
            return closed(null, message, true);
        }

        private HandBackException closed(@Nullable Duration retryAfter, String message, boolean outOfOrder) {
            lock.lock();
            try {
                Pause pause = pauses.computeIfAbsent(system, ignored -> new Pause(nanos.getAsLong()));
                if (probe && !ended) {
                    pause.probing = false;
                    pause.times++;
                    ended = true;
                }
                pause.outOfOrder = outOfOrder;
                Duration delay = delay(pause.times, retryAfter);
                long openAt = nanos.getAsLong() + delay.toNanos();
                pause.openAt = openAt - pause.openAt > 0 ? openAt : pause.openAt;
                probed.signalAll();
                return new HandBackException(new Busy(system, code, delay), message);
            } finally {
                lock.unlock();
            }
        }

        /** The call has ended. The end of a probe that did not find the system busy lets all calls pass. */
        @Override
        public void close() {
            if (!probe) {
                return;
            }
            lock.lock();
            try {
                if (!ended) {
                    ended = true;
                    pauses.remove(system);
                    probed.signalAll();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private static Duration delay(int times, @Nullable Duration retryAfter) {
        Duration least = FIRST_DELAY.multipliedBy(1L << Math.min(times, MAX_DOUBLINGS));
        least = least.compareTo(LONGEST_DELAY) < 0 ? least : LONGEST_DELAY;
        Duration asked = retryAfter == null || retryAfter.compareTo(least) < 0 ? least : retryAfter;
        return asked.compareTo(LONGEST_SILENCE) < 0 ? asked : LONGEST_SILENCE;
    }
}

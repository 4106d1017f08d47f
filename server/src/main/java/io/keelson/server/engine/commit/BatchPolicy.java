package io.keelson.server.engine.commit;

import org.jspecify.annotations.Nullable;

/**
 * Decides when waiting commands get a commit, which of them, and how many. Pure: it reads three lines of commands and knows
 * neither threads nor time. {@code docs/adr/0011-hot-path.md} has the measurements behind the constants.
 *
 * <p>Commands that begin tasks wait in one line, commands that end tasks in another, and all others, which only touch steps, in a
 * third. A commit that begins or ends tasks has some thirty statements, a commit on steps four. So they execute beside each other,
 * and none repeats the statements of another. With one line for begins and ends, runs of one chain each are in lockstep.
 */
final class BatchPolicy {
    /**
     * The number of commands with which another commit begins beside a running one of the same line. The statements of a
     * commit cost the database more than the rows of a few commands, so fewer commands wait for the next commit.
     */
    static final int ANOTHER_COMMIT = 24;
    /** The number of commands that begin, or end, tasks with which their commit begins before the next one on steps. */
    static final int COMMIT_ON_TASKS = 8;
    /** The number of commands with which a commit that begins no tasks executes beside another commit. */
    static final int COMMIT_BESIDE = 4;
    /** The number of commands of a commit, at most. */
    static final int MAX_BATCH = 300;

    /** The number of other commits that begin before one on tasks, if commands on tasks wait. */
    private static final int OTHERS_PASS_TASKS = 1;
    /** The number of commits on tasks that begin before another one, if commands wait in its line. */
    private static final int TASKS_PASS_OTHERS = 2;

    /** The lines, in the order of their turns where all else is equal. */
    enum Kind {
        /** Commands that create a run or claim a task's first step. */
        BEGIN,
        /** Commands that complete a task's last step. */
        END,
        /** All other commands. */
        MIDDLE
    }

    /**
     * One of the lines.
     *
     * @param waiting the number of commands of runs that are in no commit
     * @param commits the number of running commits
     * @param passed the number of commits of other lines that have begun while commands waited in this one
     */
    record Line(int waiting, int commits, int passed) {

        private boolean worthCommit() {
            return waiting >= (commits == 0 ? 1 : ANOTHER_COMMIT);
        }

        private boolean idle() {
            return waiting + commits == 0;
        }
    }

    /** All lines. */
    record Lines(Line begin, Line end, Line middle) {

        private Line of(Kind kind) {
            return switch (kind) {
                case BEGIN -> begin;
                case END -> end;
                case MIDDLE -> middle;
            };
        }

        /** A few commands wait until a commit of another line has begun or ended. */
        private boolean worthCommit(Kind kind) {
            return of(kind).worthCommit() && switch (kind) {
                case BEGIN -> begin.waiting >= COMMIT_ON_TASKS || begin.passed >= OTHERS_PASS_TASKS
                        || end.idle() && middle.idle();
                case END -> beside(end, begin.commits)
                        && (end.waiting >= COMMIT_ON_TASKS || end.passed >= OTHERS_PASS_TASKS || middle.idle());
                case MIDDLE -> beside(middle, begin.commits + end.commits);
            };
        }

        private static boolean beside(Line line, int commits) {
            return line.waiting >= COMMIT_BESIDE || line.passed >= TASKS_PASS_OTHERS || commits == 0;
        }
    }

    private BatchPolicy() {}

    /**
     * The line whose commit begins next; null if absent. If several are worth one, the line that was passed most often has its turn.
     */
    static @Nullable Kind next(Lines lines) {
        Kind next = null;
        for (Kind kind : Kind.values()) {
            if (lines.worthCommit(kind) && (next == null || lines.of(kind).passed > lines.of(next).passed)) {
                next = kind;
            }
        }
        return next;
    }

    /**
     * The number of commands with which a commit stops to take further runs: half of the commands if both halves are worth a
     * commit, so that one half is decided while the database writes the other.
     */
    static int enough(int waiting) {
        return waiting >= 2 * ANOTHER_COMMIT ? Math.min(MAX_BATCH, (waiting + 1) / 2) : MAX_BATCH;
    }
}

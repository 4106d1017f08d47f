package io.keelson.server.engine.commit;

/**
 * Decides when waiting commands get a commit, which of them, and how many. Pure: it reads two lines of commands and knows
 * neither threads nor time. {@code docs/adr/0011-hot-path.md} has the measurements behind the constants.
 *
 * <p>Commands that begin or end tasks wait in one line, all others, which only touch steps, in another. A commit on tasks has
 * some thirty statements, a commit on steps four. So the two execute beside each other, and neither repeats the statements of
 * the other.
 */
final class BatchPolicy {
    /**
     * The number of commands with which another commit begins beside a running one of the same line. The statements of a
     * commit cost the database more than the rows of a few commands, so fewer commands wait for the next commit.
     */
    static final int ANOTHER_COMMIT = 24;
    /** The number of commands on tasks with which their commit begins before the next one on steps. */
    static final int COMMIT_ON_TASKS = 8;
    /** The number of commands on steps with which their commit begins beside one on tasks. */
    static final int COMMIT_ON_STEPS = 4;
    /** The number of commands of a commit, at most. */
    static final int MAX_BATCH = 300;

    /** The number of commits on steps that begin before one on tasks, if commands on tasks wait. */
    private static final int STEPS_PASS_TASKS = 1;
    /** The number of commits on tasks that begin before one on steps, if commands on steps wait. */
    private static final int TASKS_PASS_STEPS = 2;

    /** The line whose commit begins next. */
    enum Next {
        TASKS, STEPS, NEITHER
    }

    /**
     * One of the two lines.
     *
     * @param waiting the number of commands of runs that are in no commit
     * @param commits the number of running commits
     * @param passed the number of commits of the other line that have begun while commands waited in this one
     */
    record Line(int waiting, int commits, int passed) {

        private boolean worthCommit() {
            return waiting >= (commits == 0 ? 1 : ANOTHER_COMMIT);
        }

        private boolean idle() {
            return waiting + commits == 0;
        }
    }

    private BatchPolicy() {}

    /** The line whose commit begins next. If both lines are worth one, the line that was passed more often has its turn, and the line of tasks if both were passed equally often. */
    static Next next(Line tasks, Line steps) {
        boolean onTasks = worthCommitOnTasks(tasks, steps);
        boolean onSteps = worthCommitOnSteps(tasks, steps);
        if (onTasks && onSteps) {
            return steps.passed > tasks.passed ? Next.STEPS : Next.TASKS;
        }
        return onTasks ? Next.TASKS : onSteps ? Next.STEPS : Next.NEITHER;
    }

    /**
     * The number of commands with which a commit stops to take further runs: half of the commands if both halves are worth a
     * commit, so that one half is decided while the database writes the other.
     */
    static int enough(int waiting) {
        return waiting >= 2 * ANOTHER_COMMIT ? Math.min(MAX_BATCH, (waiting + 1) / 2) : MAX_BATCH;
    }

    /** A few commands on tasks wait until a commit on steps has begun. */
    private static boolean worthCommitOnTasks(Line tasks, Line steps) {
        return tasks.worthCommit()
                && (tasks.waiting >= COMMIT_ON_TASKS || tasks.passed >= STEPS_PASS_TASKS || steps.idle());
    }

    /** A few commands on steps wait for the end of a commit on tasks. */
    private static boolean worthCommitOnSteps(Line tasks, Line steps) {
        return steps.worthCommit()
                && (steps.waiting >= COMMIT_ON_STEPS || steps.passed >= TASKS_PASS_STEPS || tasks.commits == 0);
    }
}

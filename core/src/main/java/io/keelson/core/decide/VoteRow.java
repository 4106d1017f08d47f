package io.keelson.core.decide;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One person's approval of a question that requires several people. It counts only while that very question waits.
 *
 * @param subject the run, task, step, ticket or proposal that the question is about
 * @param question tells the question from others about the same subject, and from its earlier contents
 * @param digest SHA-256 of the approved content
 * @param reason as it was given; null if absent
 */
public record VoteRow(UUID subject, String voter, String question, String digest, @Nullable String reason,
        Instant votedAt) {

    boolean isOf(UUID about, String voted) {
        return subject.equals(about) && question.equals(voted);
    }
}

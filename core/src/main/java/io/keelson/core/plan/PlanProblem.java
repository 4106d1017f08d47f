package io.keelson.core.plan;

/**
 * A problem of a client's document.
 *
 * @param code stable, UPPER_SNAKE
 * @param pointer JSON pointer (RFC 6901) to the place
 * @param message the problem and its fix, as text for users
 */
public record PlanProblem(String code, String pointer, String message) {}

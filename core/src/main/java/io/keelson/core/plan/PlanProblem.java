package io.keelson.core.plan;

/**
 * A problem of a client's document.
 *
 * @param code stable, UPPER_SNAKE
 * @param pointer JSON pointer (RFC 6901) to the place
 * @param message what is wrong and what would be right, for people
 */
public record PlanProblem(String code, String pointer, String message) {}

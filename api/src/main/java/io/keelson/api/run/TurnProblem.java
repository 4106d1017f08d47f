package io.keelson.api.run;

/**
 * Why the answer of a turn cannot be used.
 *
 * @param code stable code
 * @param message message for people
 */
public record TurnProblem(String code, String message) {}

package io.keelson.core.lifecycle;

/**
 * One allowed transition.
 *
 * @param by what causes it, in words
 * @param event the type of the event that this edge writes, one per edge
 */
public record Edge<S extends Enum<S> & State>(S from, S to, String by, EventType event) {}

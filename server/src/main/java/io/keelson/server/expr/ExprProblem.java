package io.keelson.server.expr;

/**
 * Something wrong with a template that shows before it runs.
 *
 * @param code {@code EXPRESSION_SYNTAX}
 * @param offset where in the template, in chars from 0
 */
public record ExprProblem(String code, String message, int offset) {}

package io.keelson.server.base.expr;

/**
 * A problem of a template that is found before it runs.
 *
 * @param code {@code EXPRESSION_SYNTAX}
 * @param offset where in the template, in chars from 0
 */
public record ExprProblem(String code, String message, int offset) {}

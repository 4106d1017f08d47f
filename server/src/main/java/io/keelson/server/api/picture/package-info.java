/**
 * Pictures of runs as numbers: the stretches of a timeline, the layout of a graph. Pure: the same input gives the same
 * output, without a database or a clock.
 *
 * <p>Pitfalls: states are no part of a layout, so that it can be cached; boxes are numbered in plan order, and every order
 * is completed by these numbers.
 */
@NullMarked
package io.keelson.server.api.picture;

import org.jspecify.annotations.NullMarked;

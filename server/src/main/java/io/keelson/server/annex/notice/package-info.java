/**
 * Notices of questions, and the pages at which people answer them by a signed link.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Mail scanners follow links: a {@code GET} changes nothing.
 * <li>A link is of one question as it waited then, one recipient and one endpoint. It has no rights of its own: the answer is that of a
 * principal with the scope {@code approve}, by the command of the API.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.notice;

import org.jspecify.annotations.NullMarked;

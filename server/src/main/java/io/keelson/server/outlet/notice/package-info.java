/**
 * Messages for people about events: their content, and its forms for Slack, Teams and mail.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>Titles, questions and facts have text of agents and of other systems. Each form shows it as plain text: without mentions, links
 * and markup.
 * </ul>
 */
@NullMarked
package io.keelson.server.outlet.notice;

import org.jspecify.annotations.NullMarked;

/**
 * Messages to a RabbitMQ broker about ready work of remote workers.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A message is a hint. Whether work may begin is decided by the claim alone: a message that arrives twice, late or never costs time.
 * <li>The row of {@code work_messages} is written in the commit that queues the work. It is removed when the work is claimed, not
 * when the broker confirms: until then the message may be lost.
 * <li>No connection of the database is held while the broker confirms.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.rabbitmq;

import org.jspecify.annotations.NullMarked;

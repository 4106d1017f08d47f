/**
 * PostgreSQL started by the server itself, for machines without one: same database, same durability.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>The JVM may die at any instruction. A shell supervisor stops PostgreSQL when its pipe to the JVM closes, and the next start
 * stops a leftover of the same data directory.
 * <li>A free port may be taken before PostgreSQL binds it. {@code EmbeddedPostgres} compares {@code data_directory} with its own.
 * <li>PostgreSQL refuses to run as root. {@code Privileges} selects a way around that, and the owner of the files depends on it.
 * <li>A full disk ends PostgreSQL. It is not started again: the cause needs a person.
 * </ul>
 */
@NullMarked
package io.keelson.server.annex.postgres;

import org.jspecify.annotations.NullMarked;

/** The database: where it is, how to reach it, how its schema comes about. Knows no other room. */
@NullMarked
package io.keelson.server.db;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.keelson.server;

import org.jspecify.annotations.NullMarked;

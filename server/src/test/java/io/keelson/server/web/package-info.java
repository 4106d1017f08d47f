@NullMarked
package io.keelson.server.web;

import org.jspecify.annotations.NullMarked;

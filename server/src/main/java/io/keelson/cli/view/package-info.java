/** What people see of runs, as pure functions from data to lines; nothing here reads or prints. */
@NullMarked
package io.keelson.cli.view;

import org.jspecify.annotations.NullMarked;

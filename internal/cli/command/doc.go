// Package command is what every command of zonefold is made of: its surroundings and exit codes, its arguments and the
// form of its output, what it tells people while they wait, and the objects it works on, which are those of files or
// those of a cluster that its user may read. It knows no command, and decides nothing about objects.
package command

// Package cli is the zonefold command, which is kubectl-zonefold too. It puts the commands together, which are in rooms
// below it: ask (explain, tree, history, blame), change (plan, diff, approve, freeze, thaw, rollback, adopt, disown,
// release), move (import, export, render), check (check, doctor, support, dnshook) and show (serve, console). All of
// them build on command, which has what every command is made of, and most on fold, which runs the operator's core on
// objects of files or of a cluster.
//
// Their behaviour is written down in testdata/*.txtar, one script a subject; the scripts are run as tests and can be
// read as a manual.
package cli

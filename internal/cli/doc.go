// Package cli is the zonefold command, which is kubectl-zonefold too: what the
// operator would make of objects in files (render), what is wrong with them (check), a
// name server of them (serve), objects for zones that are elsewhere and the way back
// (import, export), what a cluster needs when the operator is gone (release), and
// whether a server for DNSClasses speaks their protocol (dnshook conformance).
//
// render, check and serve run the same core as the operator, without a cluster. Their
// behaviour is written down in testdata/*.txtar, one script a subject; the scripts
// are run as tests and can be read as a manual.
package cli

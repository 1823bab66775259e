package bindy

// Settings are what the operator's flags say about fleets.
type Settings struct {
	DefaultNamespace string // where a provider's cluster goes when it names no namespaces
	Namespace        string // the operator's
	ServiceAccount   string // the operator's
	BIND9Image       string // without tag
	BindcarImage     string
}

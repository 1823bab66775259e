package bindcar

// The bodies of the API. The order of fields is the order of the existing bindcar's answers. A field of a request is
// required unless its tag has omitempty; see shape.go.

// Types of zones.
const (
	Primary   = "primary"
	Secondary = "secondary"
)

// A CreateZone is the body of POST /api/v1/zones. POST /api/addzone/{zone} takes it without ZoneName.
type CreateZone struct {
	ZoneName   string     `json:"zoneName"`
	ZoneType   string     `json:"zoneType"`
	ZoneConfig ZoneConfig `json:"zoneConfig"`
	// UpdateKeyName is the TSIG key that may update the zone.
	UpdateKeyName *string `json:"updateKeyName,omitempty"`
	// Held keeps a primary zone from everybody but those who may update it, until a PATCH releases it: it is filled
	// meanwhile.
	Held bool `json:"held,omitempty"`
}

// addZone is CreateZone with the name in the path; in the body it may be left out.
type addZone struct {
	ZoneName      string     `json:"zoneName,omitempty"`
	ZoneType      string     `json:"zoneType"`
	ZoneConfig    ZoneConfig `json:"zoneConfig"`
	UpdateKeyName *string    `json:"updateKeyName,omitempty"`
	Held          bool       `json:"held,omitempty"`
}

// A ZoneConfig is what a zone holds at first and whom it knows.
type ZoneConfig struct {
	TTL         uint32   `json:"ttl"` // seconds, of every record without one
	SOA         SOA      `json:"soa"`
	NameServers []string `json:"nameServers"`
	// NameServerIPs maps hosts to an address, IPv4 or IPv6.
	NameServerIPs map[string]string `json:"nameServerIps"`
	Records       []Record          `json:"records,omitempty"`
	AlsoNotify    *[]string         `json:"alsoNotify,omitempty"`    // address, or address and port
	AllowTransfer *[]string         `json:"allowTransfer,omitempty"` // addresses, networks, "key NAME"
	Primaries     *[]string         `json:"primaries,omitempty"`     // as AlsoNotify, and "key NAME" after it
	DNSSECPolicy  *string           `json:"dnssecPolicy,omitempty"`
	InlineSigning *bool             `json:"inlineSigning,omitempty"`
	// NameServerAddresses maps hosts to any number of addresses, beside NameServerIPs.
	NameServerAddresses map[string][]string `json:"nameServerAddresses,omitempty"`
}

// A SOA is the start of the zone. Times are in seconds.
type SOA struct {
	PrimaryNS   string  `json:"primaryNs"`
	AdminEmail  string  `json:"adminEmail"`            // a name: admin.example.com. for admin@example.com
	Serial      *uint32 `json:"serial,omitempty"`      // default YYYYMMDD01
	Refresh     *uint32 `json:"refresh,omitempty"`     // default 3600
	Retry       *uint32 `json:"retry,omitempty"`       // default 600
	Expire      *uint32 `json:"expire,omitempty"`      // default 604800
	NegativeTTL *uint32 `json:"negativeTtl,omitempty"` // default 86400
}

// A Record is one record of a new zone. Its name and the names in its value are relative to the zone unless they end in
// a dot.
type Record struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Value    string  `json:"value"`
	TTL      *uint32 `json:"ttl,omitempty"`
	Priority *uint16 `json:"priority,omitempty"` // of MX and SRV; it then is not in Value
}

// A ModifyZone is the body of PATCH /api/v1/zones/{name}: what is absent stays, an empty list clears.
type ModifyZone struct {
	AlsoNotify    *[]string `json:"alsoNotify,omitempty"`
	AllowTransfer *[]string `json:"allowTransfer,omitempty"`
	AllowUpdate   *[]string `json:"allowUpdate,omitempty"`
	Primaries     *[]string `json:"primaries,omitempty"`
	DNSSECPolicy  *string   `json:"dnssecPolicy,omitempty"` // "" for none
	// see CreateZone; while it is true, there is nobody to notify or to transfer to
	Held *bool `json:"held,omitempty"`
}

// ZoneSettings answers GET /api/v1/zones/{name}/settings: the zone's configuration, in the words of ModifyZone. An
// empty list is one that the zone does not have, so that the server's own holds.
type ZoneSettings struct {
	ZoneType      string   `json:"zoneType"`
	Own           bool     `json:"own"` // it was made here, and is not of BIND's configuration files
	Held          bool     `json:"held"`
	AlsoNotify    []string `json:"alsoNotify"`
	AllowTransfer []string `json:"allowTransfer"`
	AllowUpdate   []string `json:"allowUpdate"`
	Primaries     []string `json:"primaries"`
	DNSSECPolicy  string   `json:"dnssecPolicy"`
}

// A ZoneResponse answers what changes zones, and GET /api/v1/zones/{name}/status.
type ZoneResponse struct {
	Success bool    `json:"success"`
	Message string  `json:"message"`
	Details *string `json:"details,omitempty"` // BIND's own words
}

// A ZoneInfo answers GET /api/v1/zones/{name}. A zone that is not loaded has no serial.
type ZoneInfo struct {
	Name     string  `json:"name"`
	ZoneType string  `json:"zoneType"`
	Serial   *uint32 `json:"serial,omitempty"`
	FilePath *string `json:"filePath,omitempty"`
}

// A ZoneList answers GET /api/v1/zones.
type ZoneList struct {
	Zones []string `json:"zones"`
	Count int      `json:"count"`
}

// A ServerStatus answers GET /api/v1/server/status with the words of "rndc status".
type ServerStatus struct {
	Status string `json:"status"`
}

// Content is which zones the server must have loaded before it is ready: the body of PUT /api/v1/server/content. The
// answer of GET has Declared false until somebody has said.
type Content struct {
	Zones []string `json:"zones"`
}

// A ContentStatus answers GET and PUT /api/v1/server/content. Where content is required, it is declared for one pod and
// one start of BIND: until somebody says so again, Declared is false.
type ContentStatus struct {
	Declared bool     `json:"declared"`
	Zones    []string `json:"zones"`
}

// A KeyStatus says whether BIND takes a key of a key file for its control channel and for DNS messages. The ID tells
// keys apart that have the same name.
type KeyStatus struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Control bool   `json:"control"`
	DNS     bool   `json:"dns"`
}

// A KeyList answers GET /api/v1/server/keys. Transfer are the keys of the file transfer.key beside the key file, where
// there is one; they are not for the control channel, and it is not tried.
type KeyList struct {
	Keys     []KeyStatus `json:"keys"`
	Transfer []KeyStatus `json:"transfer,omitempty"`
}

// An AddRecord is the body of POST /api/v1/zones/{name}/records.
type AddRecord struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Value    string  `json:"value"`
	TTL      *uint32 `json:"ttl,omitempty"` // default 3600
	Priority *uint16 `json:"priority,omitempty"`
}

// A RemoveRecord is the body of DELETE /api/v1/zones/{name}/records; without a value the whole set goes.
type RemoveRecord struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	Value *string `json:"value,omitempty"`
}

// An UpdateRecord is the body of PUT /api/v1/zones/{name}/records.
type UpdateRecord struct {
	Name         string  `json:"name"`
	Type         string  `json:"type"`
	CurrentValue string  `json:"currentValue"`
	NewValue     string  `json:"newValue"`
	TTL          *uint32 `json:"ttl,omitempty"` // default 3600
	Priority     *uint16 `json:"priority,omitempty"`
}

// A RecordResponse answers the three of them. The keys of details are in alphabetical order, as the existing bindcar
// has them.
type RecordResponse struct {
	Success bool          `json:"success"`
	Message string        `json:"message"`
	Details RecordDetails `json:"details"`
}

// RecordDetails repeats what was asked for.
type RecordDetails struct {
	Record RecordChange `json:"record"`
	Zone   string       `json:"zone"`
}

// A RecordChange is what was asked for: AddRecord has value and ttl, RemoveRecord a value that may be null,
// UpdateRecord currentValue, newValue and ttl.
type RecordChange struct {
	CurrentValue *string  `json:"currentValue,omitempty"`
	Name         string   `json:"name"`
	NewValue     *string  `json:"newValue,omitempty"`
	TTL          *uint32  `json:"ttl,omitempty"`
	Type         string   `json:"type"`
	Value        **string `json:"value,omitempty"` // outer nil: absent; inner nil: null
}

// A Health answers GET /api/v1/health.
type Health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

// A Readiness answers GET /api/v1/ready.
type Readiness struct {
	Ready  bool     `json:"ready"`
	Checks []string `json:"checks"`
}

// An ErrorBody is the body of errors that the API itself finds, but for 401, which is an AuthError.
type ErrorBody struct {
	Error   string  `json:"error"`
	Details *string `json:"details"`
}

// An AuthError is the body of every 401.
type AuthError struct {
	Error string `json:"error"`
}

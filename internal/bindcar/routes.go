package bindcar

import (
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A route is one method at one path. handle returns the status and the body of success; a nil body says that it has
// written.
type route struct {
	method, path string
	operation    string // counted in bindcar_zone_operations_total; "": not
	open         bool   // without authentication
	unlimited    bool   // not counted by the rate limit
	handle       func(w http.ResponseWriter, r *http.Request) (status int, body any, err error)

	// What openapi.json says.
	summary      string
	body, answer any    // of the types of the bodies; nil: none
	media        string // of the answer where it is not JSON
	success      int
	errors       []int // beside those that statuses adds
	sameBody     bool  // errors of the server have the body of success
}

// Errors of calls that ask BIND: about a zone, and about the server.
var (
	zoneErrors = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusInternalServerError,
		http.StatusServiceUnavailable}
	serverErrors = []int{http.StatusInternalServerError, http.StatusServiceUnavailable}
)

// zoneCall is a call about one zone that is answered with ZoneResponse.
func zoneCall(method, path, operation, summary string) route {
	return route{method: method, path: path, operation: operation, summary: summary, answer: ZoneResponse{},
		success: http.StatusOK, errors: zoneErrors}
}

func (r route) with(body any, handle func(http.ResponseWriter, *http.Request) (int, any, error)) route {
	r.body, r.handle = body, handle
	return r
}

// routes is all that there is.
func (s *Server) routes() []route {
	return slices.Concat(s.zoneRoutes(), s.recordRoutes(), s.documentRoutes(), s.serverRoutes(), s.openRoutes())
}

func (s *Server) zoneRoutes() []route {
	const zones, zone = "/api/v1/zones", "/api/v1/zones/{name}"
	return []route{
		{method: "POST", path: zones, operation: "create", summary: "make a zone, whole", body: CreateZone{},
			answer:  ZoneResponse{},
			success: http.StatusCreated, errors: append([]int{http.StatusConflict}, serverErrors...), handle: s.createZone},
		{method: "GET", path: zones, summary: "list the zones", answer: ZoneList{}, success: http.StatusOK,
			handle: s.listZones},
		{method: "GET", path: zone, summary: "tell about a zone", answer: ZoneInfo{}, success: http.StatusOK,
			errors: zoneErrors, handle: s.getZone},
		{method: "GET", path: zone + "/settings", summary: "tell how a zone is configured", answer: ZoneSettings{},
			success: http.StatusOK, errors: zoneErrors, handle: s.zoneSettings},
		zoneCall("PATCH", zone, "modify", "change lists of a zone; absent ones stay, empty ones are cleared").with(
			ModifyZone{}, s.modifyZone),
		zoneCall("DELETE", zone, "delete", "delete a zone and its files").with(nil, s.deleteZone),
		zoneCall("GET", zone+"/status", "", "BIND's status of a zone; of one that is not loaded, name, type and state").with(
			nil, s.zoneStatus),
		zoneCall("POST", zone+"/reload", "reload", "read the zone's file again").with(nil, s.commandZone("reload",
			"Zone %s reloaded successfully")),
		zoneCall("POST", zone+"/freeze", "freeze", "take no updates for now").with(nil, s.commandZone("freeze",
			"Zone %s frozen successfully")),
		zoneCall("POST", zone+"/thaw", "thaw", "take updates again").with(nil, s.commandZone("thaw",
			"Zone %s thawed successfully")),
		zoneCall("POST", zone+"/notify", "notify", "tell the secondaries").with(nil, s.commandZone("notify",
			"Notify sent for zone %s")),
		zoneCall("POST", zone+"/refresh", "refresh", "have a secondary zone ask its primaries for what is newer").with(nil,
			s.commandZone("refresh", "Refresh initiated for zone %s")),
		zoneCall("POST", zone+"/retransfer", "retransfer", "transfer a secondary zone anew").with(nil,
			s.commandZone("retransfer", "Retransfer initiated for zone %s")),
	}
}

func (s *Server) recordRoutes() []route {
	const path = "/api/v1/zones/{name}/records"
	all := []route{
		zoneCall("POST", path, "record_add", "add a record").with(AddRecord{}, s.addRecord),
		zoneCall("PUT", path, "record_update", "replace a value by another").with(UpdateRecord{}, s.updateRecord),
		zoneCall("DELETE", path, "record_remove", "remove a value or a set").with(RemoveRecord{}, s.removeRecord),
	}
	all[0].success = http.StatusCreated
	for i := range all {
		all[i].answer = RecordResponse{}
	}
	return all
}

// documentRoutes are the paths of the bindy document: the same operations, idempotent.
func (s *Server) documentRoutes() []route {
	const name = "/{name}"
	add := zoneCall("POST", "/api/addzone"+name, "create", "make a zone, unless it exists").with(addZone{}, s.addZone)
	add.errors = serverErrors
	del := zoneCall("DELETE", "/api/delzone"+name, "delete", "delete a zone, if it exists").with(nil, s.delZone)
	del.errors = serverErrors
	return []route{
		add, del,
		zoneCall("POST", "/api/notify"+name, "notify", "tell the secondaries").with(nil, s.commandZone("notify",
			"Notify sent for zone %s")),
		zoneCall("GET", "/api/zonestatus"+name, "", "tell whether a zone exists, and BIND's status of it").with(nil,
			s.zoneStatus),
	}
}

func (s *Server) serverRoutes() []route {
	return []route{
		{method: "GET", path: "/api/v1/server/status", summary: "BIND's status", answer: ServerStatus{},
			success: http.StatusOK, errors: serverErrors, handle: s.serverStatus},
		{method: "GET", path: "/api/v1/server/keys", summary: "which keys of the key file BIND accepts", answer: KeyList{},
			success: http.StatusOK, errors: serverErrors, handle: s.serverKeys},
		{method: "GET", path: "/api/v1/server/content", summary: "the declared zones", answer: ContentStatus{},
			success: http.StatusOK, handle: s.getContent},
		{method: "PUT", path: "/api/v1/server/content", summary: "declare the zones", body: Content{},
			answer: ContentStatus{}, success: http.StatusOK,
			errors: serverErrors[:1], handle: s.putContent},
	}
}

// openRoutes need no token, but for openapi.json where the documentation is not public.
func (s *Server) openRoutes() []route {
	public := s.settings.Docs
	all := []route{
		{method: "GET", path: "/api/v1/health", open: true, unlimited: true, summary: "that the process runs",
			answer: Health{}, success: http.StatusOK, handle: s.health},
		{method: "GET", path: "/api/v1/ready", open: true, unlimited: true,
			summary: "whether BIND has all declared zones", answer: Readiness{}, success: http.StatusOK,
			errors: serverErrors[1:], sameBody: true, handle: s.ready},
		{method: "GET", path: ReadyPath, open: true, unlimited: true, summary: "the same, where the existing bindcar " +
			"answers nothing", answer: Readiness{}, success: http.StatusOK,
			errors: serverErrors[1:], sameBody: true, handle: s.ready},
		{method: "GET", path: "/metrics", open: true, unlimited: true, summary: "metrics for Prometheus", media: "text/plain",
			success: http.StatusOK, handle: s.scrape},
		{method: "GET", path: "/api/v1/openapi.json", open: public, summary: "this document", answer: struct{}{},
			media: "application/json", success: http.StatusOK, handle: s.openAPI},
	}
	if public {
		all = append(all, route{method: "GET", path: "/api/v1/docs", open: true, summary: "a page for people",
			media: "text/html", success: http.StatusOK, handle: s.docs})
	}
	return all
}

func (s *Server) health(http.ResponseWriter, *http.Request) (int, any, error) {
	return http.StatusOK, Health{Status: "healthy", Version: s.version}, nil
}

func (s *Server) scrape(w http.ResponseWriter, r *http.Request) (int, any, error) {
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return 0, nil, nil
}

func (s *Server) serverStatus(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	text, err := s.control.server(r.Context(), "status")
	if err != nil {
		return 0, nil, unavailable("asking BIND for its status", err)
	}
	return http.StatusOK, ServerStatus{Status: text}, nil
}

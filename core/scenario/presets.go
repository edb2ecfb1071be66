package scenario

// A Preset is a scenario worth starting from: one experiment that shows one
// thing.
type Preset struct {
	Name     string // in a command and in a test
	Title    string // on a button
	Sentence string // what to look at
	Link     string // canonical, so that a preset is shared like any scenario
}

// Presets is every preset, in the order in which menus show them. A link is
// read by every later build, so the table's links never change their meaning.
var Presets = []Preset{
	{
		Name:     "monday",
		Title:    "Monday, 09:10",
		Sentence: "One of three checkout backends answers every request with an error in 3 ms and passes its health check: the policy that looks at load likes it best.",
		Link:     "#v1;algorithm=round_robin;algorithm=least_conn;backend=checkout1:30;backend=checkout2:30;backend=checkout3:30,errors:1,health:process,error_ms:3,errors_after:5;check-interval=2",
	},
	{
		Name:     "tail-latency",
		Title:    "One slow backend",
		Sentence: "The third backend is five times slower: compare the policies' medians, which look alike, and then their p99.",
		Link:     "#v1",
	},
	{
		Name:     "fails-fast",
		Title:    "Fails fast",
		Sentence: "One backend answers every request with an error in 2 ms: least_conn sends it more than half of the traffic, because it is always free.",
		Link:     "#v1;algorithm=round_robin;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:1",
	},
	{
		Name:     "fails-fast-ejected",
		Title:    "Fails fast, ejected",
		Sentence: "Five errors in a row take the broken backend out, whatever the policy: a handful of errors instead of thousands.",
		Link:     "#v1;algorithm=round_robin;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:1;consecutive-5xx=5;max-ejection-percent=34",
	},
	{
		Name:     "cap-never-ejects",
		Title:    "A cap of one percent too little",
		Sentence: "One of three backends is 33.3% of the pool, so a cap of 33% refuses every ejection, and nothing is gained.",
		Link:     "#v1;algorithm=round_robin;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:1;consecutive-5xx=5;max-ejection-percent=33",
	},
}

// FindPreset returns the preset of that name.
func FindPreset(name string) (Preset, bool) {
	for _, p := range Presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

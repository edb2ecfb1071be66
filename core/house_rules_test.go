package core_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// exactMath are the functions of package math that are exact, or correctly rounded, on every target. The others are
// approximations with a hand-written version for some processors: Exp, Pow and Tanh already differ between amd64 and
// WebAssembly, and Log is different on arm64.
var exactMath = strings.Fields(`
	Abs Ceil Copysign Dim Floor Frexp Inf IsInf IsNaN Ldexp Max Min Mod Modf NaN Round RoundToEven Signbit Sqrt Trunc
	Float32bits Float32frombits Float64bits Float64frombits Nextafter
	E Pi Ln2 Ln10 Log2E Log10E Sqrt2
	MaxInt MaxInt8 MaxInt16 MaxInt32 MaxInt64 MinInt MinInt8 MinInt16 MinInt32 MinInt64
	MaxUint MaxUint8 MaxUint16 MaxUint32 MaxUint64 MaxFloat32 MaxFloat64 SmallestNonzeroFloat32 SmallestNonzeroFloat64`)

// seededRand is what core may use of math/rand/v2: generators that are given their seed. NewZipf calls math.Exp.
var seededRand = strings.Fields(`New NewPCG NewChaCha8 Rand PCG ChaCha8 Source`)

// clockTime is what core may not use of package time.
var clockTime = strings.Fields(`Now Since Until Sleep After AfterFunc Tick NewTicker NewTimer`)

// unsteady are methods that are wrong in core whatever they are called on.
var unsteady = map[string]string{
	"ExpFloat64":  "it calls math.Exp, which differs between targets; core/stat has exponential draws",
	"NormFloat64": "it calls math.Exp, which differs between targets",
	"MapRange":    "the order of a map changes from run to run",
	"MapKeys":     "the order of a map changes from run to run",
}

const (
	noConcurrency = "core is single-threaded state that shells drive; concurrency is theirs"
	noClock       = "time is an argument: take now lb.Time"
	noInit        = "tables are literals; nothing happens because a package was imported"
	noGlobalRand  = "chance is an argument: draw from the scenario's seed"
	noApproxMath  = "it is not exact on every target, so results would differ; see core/stat"
	noDotImport   = "a name must show where it comes from, to readers and to this check"
)

// impurities reports everything in one file of core that rests on something other than its arguments.
func impurities(s source) []violation {
	bad := badImports(s)
	names := importNames(s)
	ast.Inspect(s.file, func(n ast.Node) bool {
		if what, why := impure(n, names); what != "" {
			bad = append(bad, s.broken(n, what, why))
		}
		return true
	})
	return bad
}

// badImports reports what the tables do not allow, third-party packages included; arrows are checked elsewhere.
func badImports(s source) []violation {
	var bad []violation
	for spec, p := range s.imported() {
		if spec.Name != nil && spec.Name.Name == "." {
			bad = append(bad, s.broken(spec, "dot import of "+p, noDotImport))
		}
		if _, ok := coreMayImport[p]; ok || strings.HasPrefix(p, moduleName+"/") {
			continue
		}
		why := coreMustNotImport[p]
		if why == "" {
			why = "not in coreMayImport of core/house_test.go; add it there with its reason, if it has one"
		}
		bad = append(bad, s.broken(spec, "import of "+p, why))
	}
	return bad
}

// importNames maps the name that each import has in the file to its path.
func importNames(s source) map[string]string {
	names := map[string]string{}
	for spec, p := range s.imported() {
		name := path.Base(p)
		if p == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// impure says what is wrong with one node and why, or nothing.
func impure(n ast.Node, names map[string]string) (what, why string) {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go statement", noConcurrency
	case *ast.ChanType:
		return "channel type", noConcurrency
	case *ast.SendStmt:
		return "send on a channel", noConcurrency
	case *ast.SelectStmt:
		return "select", noConcurrency
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive from a channel", noConcurrency
		}
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			return "func init", noInit
		}
	case *ast.SelectorExpr:
		return impureName(n, names)
	}
	return "", ""
}

// impureName looks at x.Name, taking x for the import of that name: a variable may not hide an import in core.
func impureName(n *ast.SelectorExpr, names map[string]string) (what, why string) {
	name := n.Sel.Name
	if why := unsteady[name]; why != "" {
		return "use of " + name, why
	}
	x, ok := n.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	switch p := names[x.Name]; {
	case p == "time" && slices.Contains(clockTime, name):
		return "time." + name, noClock
	case p == "math" && !slices.Contains(exactMath, name):
		return "math." + name, noApproxMath
	case p == "math/rand/v2" && !slices.Contains(seededRand, name):
		return "rand." + name, noGlobalRand
	}
	return "", ""
}

func TestThePurityCheckSeesEachImpurity(t *testing.T) {
	cases := []struct{ text, want string }{
		{`func f() { go f() }`, "go statement"},
		{`type c chan int`, "channel type"},
		{`func f(c C) { c <- 1 }`, "send on a channel"},
		{`func f(c C) { <-c }`, "receive from a channel"},
		{`func f() { select {} }`, "select"},
		{`func init() {}`, "func init"},
		{`import "time"; var t = time.Now()`, "time.Now: time is an argument"},
		{`import "time"; var now = time.Now`, "time.Now"},
		{`import clock "time"; var t = clock.Since(t0)`, "time.Since"},
		{`import "time"; func f() { time.Sleep(1) }`, "time.Sleep"},
		{`import "time"; var c = time.After(1)`, "time.After"},
		{`import "time"; var c = time.Tick(1)`, "time.Tick"},
		{`import "time"; var c = time.NewTimer(1)`, "time.NewTimer"},
		{`import "math/rand/v2"; var n = rand.IntN(3)`, "rand.IntN: chance is an argument"},
		{`import r "math/rand/v2"; var n = r.Float64()`, "rand.Float64"},
		{`import "math/rand/v2"; var z = rand.NewZipf(r, 2, 1, 9)`, "rand.NewZipf"},
		{`func f(r R) float64 { return r.ExpFloat64() }`, "ExpFloat64: it calls math.Exp"},
		{`func f(r R) float64 { return r.NormFloat64() }`, "NormFloat64"},
		{`func f(v V) { v.MapRange() }`, "MapRange"},
		{`import "math"; var e = math.Exp(1)`, "math.Exp: it is not exact"},
		{`import "math"; var e = math.Pow(2, 3)`, "math.Pow"},
		{`import "math"; var log = math.Log`, "math.Log"},
		{`import "math"; var e = math.Tanh(1)`, "math.Tanh"},
		{`import . "math"`, "dot import of math"},
		{`import _ "math/rand"`, "import of math/rand: its functions share a global generator"},
		{`import _ "hash/maphash"`, "import of hash/maphash: is seeded anew"},
		{`import _ "maps"`, "import of maps"},
		{`import _ "os"`, "import of os"},
		{`import _ "net/http"`, "import of net/http"},
		{`import _ "github.com/stretchr/testify/assert"`, "not in coreMayImport"},
	}
	for _, c := range cases {
		bad := impurities(parseSnippet(t, "core/lb", "package lb\n"+c.text+"\n"))
		if assert.Len(t, bad, 1, c.text) {
			assert.Contains(t, bad[0].String(), c.want)
			assert.Contains(t, bad[0].String(), "core/lb/bad.go:2: ")
		}
	}
}

func TestThePurityCheckLeavesGoodCodeAlone(t *testing.T) {
	const good = `package lb
import ("math"; "math/rand/v2"; "time"; "minilb/core/stat")
const timeout = 2 * time.Second
type T struct{}
func (T) init() {}
func f(r *rand.Rand) float64 { return math.Sqrt(r.Float64()) + stat.Log(math.MaxFloat64) }
func g() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
`
	assert.Empty(t, impurities(parseSnippet(t, "core/lb", good)))
}

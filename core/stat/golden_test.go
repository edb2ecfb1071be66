package stat_test

import "minilb/core/stat"

const (
	manyExponential = 0x720ff0522af8af61
	manyNormal      = 0xf74d47cd2a510937
	manyExp         = 0x2a5df90e45e2c48e
	manyPow         = 0x6bf78eeaf5acb1bf
)

var golden = []struct {
	call string
	got  float64
	want uint64
}{
	{"Log(0.1)", stat.Log(0.1), 0xc0026bb1bbb55515},
	{"Log(0.5)", stat.Log(0.5), 0xbfe62e42fefa39ef},
	{"Log(0.7071)", stat.Log(0.7071), 0xbfd62e6b3842a25e},
	{"Log(0.999999)", stat.Log(0.999999), 0xbeb0c6f82d74d230},
	{"Log(1.000001)", stat.Log(1.000001), 0x3eb0c6f713f33a1d},
	{"Log(1.4142135)", stat.Log(1.4142135), 0x3fd62e42cf9ee3eb},
	{"Log(3)", stat.Log(3), 0x3ff193ea7aad030a},
	{"Log(1e-300)", stat.Log(1e-300), 0xc085963447f87fb5},
	{"Log(1e300)", stat.Log(1e300), 0x4085963447f87fb5},
	{"Log(5e-324)", stat.Log(5e-324), 0xc0874385446d71c3},
	{"Exp(1)", stat.Exp(1), 0x4005bf0a8b145769},
	{"Exp(-1)", stat.Exp(-1), 0x3fd78b56362cef38},
	{"Exp(0.1)", stat.Exp(0.1), 0x3ff1aec7b35a00d4},
	{"Exp(-0.3466)", stat.Exp(-0.3466), 0x3fe6a0773cd678a4},
	{"Exp(100.5)", stat.Exp(100.5), 0x48ffcc37a76f9e76},
	{"Exp(-700.25)", stat.Exp(-700.25), 0x00caf5fe9a485c8e},
	{"Exp(-740)", stat.Exp(-740), 0x0000000000000055},
	{"Exp(709)", stat.Exp(709), 0x7fdd422d2be5dc9b},
	{"Pow(2, 0.3)", stat.Pow(2, 0.3), 0x3ff3b2c47bff8329},
	{"Pow(10, -2.5)", stat.Pow(10, -2.5), 0x3f69e7c6e43390b0},
	{"Pow(1.1, 7)", stat.Pow(1.1, 7), 0x3fff2df1fb5a7ed7},
	{"Pow(0.3, 200)", stat.Pow(0.3, 200), 0x2a385e0ec1235bd8},
	{"Pow(3, -40)", stat.Pow(3, -40), 0x3bf846d550e37b50},
	{"Unit(0)", stat.Unit(0), 0x3ca0000000000000},
	{"Unit(max)", stat.Unit(1<<64 - 1), 0x3fefffffffffffff},
	{"Exponential(0)", stat.Exponential(0), 0x40425e4f7b2737fa},
	{"Exponential(1<<63)", stat.Exponential(1 << 63), 0x3fe62e42fefa39ed},
	{"Exponential(max)", stat.Exponential(1<<64 - 1), 0x3ca0000000000000},
	{"Normal(0)", stat.Normal(0), 0xc0206b48528cea51},
	{"Normal(1<<63)", stat.Normal(1 << 63), 0x3cb40d931ff62707},
	{"Normal(1<<57)", stat.Normal(1 << 57), 0xc00357292e7715ea},
	{"Normal(max)", stat.Normal(1<<64 - 1), 0x40206b48528cea51},
}

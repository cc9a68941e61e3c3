//go:build !purego

#include "textflag.h"

// func indexPairAVX2(b *byte, n, gap int, first, second, foldFirst, foldSecond byte) int
TEXT ·indexPairAVX2(SB), NOSPLIT, $0-40
	MOVQ         b+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         gap+16(FP), DX
	VPBROADCASTB first+24(FP), Y0
	VPBROADCASTB second+25(FP), Y1
	VPBROADCASTB foldFirst+26(FP), Y2
	VPBROADCASTB foldSecond+27(FP), Y3
	MOVQ         SI, DI
	LEAQ         -32(SI)(CX*1), R8 // where the last 32 places begin

loop:
	CMPQ      DI, R8
	JA        rest
	VPOR      (DI), Y2, Y4
	VPCMPEQB  Y0, Y4, Y4
	VPOR      (DI)(DX*1), Y3, Y5
	VPCMPEQB  Y1, Y5, Y5
	VPAND     Y4, Y5, Y4
	VPMOVMSKB Y4, AX
	TESTL     AX, AX
	JNZ       found
	ADDQ      $32, DI
	JMP       loop

rest:
	// The last 32 once more, unless they were the last that were looked at.
	LEAQ      32(R8), R9
	CMPQ      DI, R9
	JAE       none
	MOVQ      R8, DI
	VPOR      (DI), Y2, Y4
	VPCMPEQB  Y0, Y4, Y4
	VPOR      (DI)(DX*1), Y3, Y5
	VPCMPEQB  Y1, Y5, Y5
	VPAND     Y4, Y5, Y4
	VPMOVMSKB Y4, AX
	TESTL     AX, AX
	JNZ       found

none:
	VZEROUPPER
	MOVQ $-1, ret+32(FP)
	RET

found:
	VZEROUPPER
	BSFL AX, AX
	SUBQ SI, DI
	ADDQ DI, AX
	MOVQ AX, ret+32(FP)
	RET

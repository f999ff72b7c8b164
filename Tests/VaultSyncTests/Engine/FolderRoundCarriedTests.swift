import Foundation
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

/// Real vaults with a folder each, and something that carries files between them as it likes; homes that are put back.
@Suite(.seeded) struct FolderRoundCarriedTests {
    @Test(arguments: [false, true])
    func `files carried in any order bring all devices the same, put back or not`(_ withPutBack: Bool) throws {
        var generator = SeededGenerator()
        let scratch = try ScratchFolder("round")
        let names = ["laptop", "phone", "tablet"]
        let devices = try names.map { try SyncedDevice(scratch, $0, road: scratch["road-\($0)"]) }
        try devices[0].found()
        try devices[0].round()
        for device in devices.dropFirst() {
            try FileManager.default.copyItem(atPath: devices[0].road, toPath: device.road)
            try device.join(devices[0])
            try devices[0].round()
        }
        var copies: [String: Int] = [:]
        for step in 0..<(TestExtent.isCheck ? 400 : 60) {
            let device = try #require(devices.randomElement(using: &generator))
            let shown = try device.shown().keys.sorted()
            switch Int.random(in: 0..<(withPutBack ? 8 : 6), using: &generator) {
            case 0: try device.add("item \(step)", "\(step)")
            case 1, 2:
                if let name = shown.randomElement(using: &generator) { try device.set(name, "\(step)") }
            case 3:
                if let name = shown.randomElement(using: &generator) { try device.set(name, "\(step)", label: "note") }
            case 4:
                if shown.count > 4, let name = shown.randomElement(using: &generator) { try device.remove(name) }
            case 6:
                copies[device.place, default: 0] += 1
                try device.copy(to: "\(device.place).\(copies[device.place, default: 0])")
            case 7:
                // Not the first state of all: whoever was never in the group again has to join.
                if let copy = copies[device.place] { try device.putBack(to: "\(device.place).\(copy)") }
            default:
                let other = try #require(devices.randomElement(using: &generator))
                try device.carry(to: other, &generator, share: 0.6)
            }
            if Bool.random(using: &generator) { try device.round() }
        }
        for _ in 0..<6 {
            for device in devices {
                try device.round()
                for other in devices where other !== device {
                    try device.carry(to: other, &generator)
                }
            }
        }
        try settle(devices[0], devices[1], devices[2])
        for device in devices {
            #expect(try device.shown() == devices[0].shown())
            let last = try device.round()
            #expect(last == RoundReport(), "\(last)")
        }
    }

    @Test func `a home that was put back goes on in a new stream`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try laptop.add("mail", "one")
        try settle(laptop, phone)
        try laptop.copy(to: scratch["copy"])
        let before = try laptop.home.stream
        try laptop.set("mail", "two")
        try laptop.add("bank", "three")
        try settle(laptop, phone)
        try laptop.putBack(to: scratch["copy"])
        #expect(try laptop.shown() == ["mail": "password=one"])
        try laptop.add("shop", "four")
        let report = try laptop.round()
        #expect(report.hitches == [.wasPutBack])
        #expect(try laptop.home.stream != before)
        try settle(laptop, phone)
        let all = ["mail": "password=two", "bank": "password=three", "shop": "password=four"]
        #expect(try laptop.shown() == all && phone.shown() == all)
    }

    @Test func `what a home wrote after it was put back, and no road had, gets other numbers`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        for name in ["mail", "bank", "shop"] { try laptop.add(name, "one") }
        try settle(laptop, phone)
        try laptop.copy(to: scratch["copy"])
        try laptop.set("mail", "first life")
        try laptop.set("bank", "first life")
        try settle(laptop, phone)
        try laptop.putBack(to: scratch["copy"])
        // It was offline: entries are sealed, under numbers that are another's.
        try laptop.set("mail", "second life")
        try laptop.set("mail", "second life", label: "note")
        try laptop.remove("shop")
        try laptop.add("new", "second life")
        #expect(try laptop.home.stamp().changes == 3)
        let report = try laptop.round()
        #expect(report.hitches == [.wasPutBack])
        try settle(laptop, phone)
        let shown = try laptop.shown()
        let other = try phone.shown()
        #expect(other == shown)
        for device in [laptop, phone] { #expect(try device.round().hitches == []) }
        #expect(shown.keys.sorted() == ["bank", "mail", "new"])
        #expect(shown["bank"] == "password=first life")
        #expect(shown["mail"]?.contains("note=second life") == true)
    }

    @Test func `two lives that both published are a fork, and all come to the same`() throws {
        var generator = SeededGenerator()
        let scratch = try ScratchFolder("round")
        let laptop = try SyncedDevice(scratch, "laptop", road: scratch["road-laptop"])
        let phone = try SyncedDevice(scratch, "phone", road: scratch["road-phone"])
        try laptop.found()
        try laptop.add("mail", "one")
        try laptop.round()
        try FileManager.default.copyItem(atPath: laptop.road, toPath: phone.road)
        try phone.join(laptop)
        try laptop.round()
        try laptop.copy(to: scratch["copy"])
        try FileManager.default.copyItem(atPath: laptop.road, toPath: scratch["road-copy"])
        try laptop.set("mail", "first life")
        try laptop.add("bank", "first life")
        try laptop.round()
        try laptop.carry(to: phone, &generator)
        try phone.round()
        // The whole disk is put back, the folder too.
        try laptop.putBack(to: scratch["copy"])
        try FileManager.default.removeItem(atPath: laptop.road)
        try FileManager.default.copyItem(atPath: scratch["road-copy"], toPath: laptop.road)
        try laptop.set("mail", "second life", label: "note")
        try laptop.add("shop", "second life")
        try laptop.round()
        let old = try laptop.home.stream
        try laptop.carry(to: phone, &generator)
        try phone.carry(to: laptop, &generator)
        let phoneSays = try phone.round().hitches
        #expect(phoneSays.contains { if case .fork(old, _) = $0 { true } else { false } })
        #expect(try laptop.round().hitches.contains(.wasPutBack))
        for _ in 0..<4 {
            try laptop.carry(to: phone, &generator)
            try phone.carry(to: laptop, &generator)
            try laptop.round()
            try phone.round()
        }
        let shown = try laptop.shown()
        #expect(try phone.shown() == shown)
        for device in [laptop, phone] { #expect(try device.round().hitches == []) }
        #expect(shown.keys.sorted() == ["bank", "mail", "shop"])
        #expect(shown["mail"] == "password=first life note=second life")
        #expect(try laptop.home.stream != old)
    }
}

#if canImport(SwiftUI)
internal import CoreImage
internal import SwiftUI

/// A QR code that another device's camera reads off the screen.
struct QRCode: View {
    let text: String

    var body: some View {
        if let image = QRCode.image(of: text) {
            Image(decorative: image, scale: 1)
                .interpolation(.none)
                .resizable()
                .aspectRatio(contentMode: .fit)
                .frame(maxWidth: 320)
                .padding()
                .background(Color.white)
                .accessibilityElement()
                .accessibilityLabel(Text("identity.code", bundle: .texts))
        } else {
            Text("identity.code.none", bundle: .texts)
        }
    }

    /// One point for each module; nil for what no QR code holds.
    private static func image(of text: String) -> CGImage? {
        guard let filter = CIFilter(name: "CIQRCodeGenerator") else { return nil }
        filter.setValue(Data(text.utf8), forKey: "inputMessage")
        filter.setValue("L", forKey: "inputCorrectionLevel")
        guard let image = filter.outputImage else { return nil }
        return CIContext().createCGImage(image, from: image.extent)
    }
}
#endif
